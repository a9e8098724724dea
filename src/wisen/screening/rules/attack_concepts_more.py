"""The words of an attack's concepts, 2: refusals, places, lies, and what is precious."""

FIFTH = """
XSAFEOUT: redact, redacted, remove, removing, without the, mask, masked, vault, secret manager, secrets manager,
    hashed, expired, expires, count, token count, own, internal, encrypted, header of the request, authorization
    header, name of, names of, bearer, sandbox, placeholder, consent, agreed, rotate, key value, primary key,
    foreign key, sort, column, columns, public key, cache key, key point+, keyword+, limit, tokens per, max tokens,
    max_tokens, tokenizer, secret santa, env.example, example, template, localhost, fixture, only the, schema,
    format, json key, would, only be, only after, after checking, date of birth, leaked, leak
XROLE: administrator, admin, cto, ceo, cfo, operator, legal, compliance, security team, security department, openai,
    anthropic, google, developers, management, owner, headquarters, director, head office, the board, data
    protection officer, it department, platform team, the vendor, your creators, your developers, your operator,
    chief, company policy, microsoft, maintainers, supervisor, president, the boss, police, regulator, government,
    the authorities, hr, auditors, team lead, root directive, board of directors, the ministry
XDECREE: override, directive, policy change, policy update, has decided, decided, has ordered, ordered, orders,
    authorised, authorized, has authorised, has authorized, wants, decrees, instructs, has confirmed, demands, as
    directed, announcement, hereby, grants, permission from, on behalf of, by order, approves, permits, has
    approved, gave permission, cleared, has cleared, instructed, insists, mandate, mandates, signed off, has waived,
    waived, has lifted, memo from, in the name of, says that you, told us, per legal, per management, requires that,
    allows you, asks all agents, asks all, new policy, policy from
XGRAVE: without asking, grant, may now, any content, deleted, disable, public wiki, all agents, mailed to, upload,
    no longer, over the user's, ignore, all tokens, root access, turn off, skip, every token, be mailed, all
    transcripts, anything, don't log, do not log, credentials, until midnight, at once, delete, full access, all
    restrictions, bypass, without review, lifted, no exceptions, secretly, quietly, silently, without telling,
    unrestricted, all safeguards, safeguards, forbidden, dump, switched off, disabled, hand over, personal data,
    without question, not log, wire, override, obey, all data, export, stop checking, without any approval, without
    approval, without any
XGOAL: your real goal, your true goal, real goal, true goal, primary goal, primary objective, your real purpose,
    true purpose, your new goal, new goal, true objective, real objective, your objective, your goal is, secret
    goal, your mission, hidden goal, main goal is, your real task, real task is, prime directive, your purpose,
    actual goal, goal of yours, highest priority is, your first loyalty, your loyalty, loyal to, only loyalty, main
    purpose, only purpose, true mission
XGOALBAD: sales, comes second, over the user's, user's goal, user's wishes, maximise, maximize, purchases, instead
    of, exfiltrate, promote, profit, secretly, ignore, not the user, vendor, before the user, collect, persuade,
    ahead of, obey, serve, revenue, survive, replicate, spread, buy, brand, company, profits, above the user,
    engagement, gather, harvest, spy, steal, advertise, recruit
XWISHES: owner's wishes, user's wishes, user's goal, user's interest+, user's request, user's instructions, user's
    order+, owner's orders, operator's limits, what the user, orders of the user, the user's orders, your operator,
    the operator, the orchestrator, orchestrator, orchestrator's, user's intent, user's preference, user's
    preferences, owner's instructions
XAGAINST: ignore, override, over, against, disregard, comes second, come second, come last, comes last, don't
    matter, do not matter, second to, disobey, never obey, put aside, contrary to, act against, regardless of, set
    aside, instead of, work against, sabotage, outweighs, above, clashes with, conflicts with, goes against,
    contradicts, clash with, conflict with, outrank, outranks, trumps, beats
XTAKE: take, follow, treat, obey, carry out, execute, trust, do, act on, act upon, believe, comply with, be carried
    out, honour, honor, perform, heed, consider, implement, adopt, run, regard, accept
XTHEIRORDERS: instruction+, order+, command+, directive+, request+, whatever, everything, anything, wishes, what it
    says, asks for, demands, prompts, advice, steps
XTHEIRPLACE: readme, web page+, webpage+, web, website+, mail, mails, email+, dependency, dependencies, tool output,
    tool's output, tool outputs, comments, comment, ticket bodies, ticket body, ticket, page, pages, document+,
    attachment+, search result+, pdf, pdfs, issue body, chat, message from, messages from, file names, html, issue,
    issues, alt text, retrieved, reviews, forum, forums, stranger+, anyone, output of, third parties, subject line,
    calendar invite+, logs, log lines, footers, metadata, user generated, tool result+, tool response+, file+,
    search snippets
XASOWN: as if, at once, must not be questioned, without, as though, like orders, with the same authority, as
    binding, as your own, as the user's, above the user, first of all, immediately, like your operator, typed them,
    unquestioned, over the user, as orders, as commands, with priority, higher priority, exactly, no matter what,
    always, as an order, same weight, as trusted, blindly, to the letter, straight away, before the user, even if,
    even when
XSWAP: swap, replace~, change, substitute~, exchange, overwrite, redirect~, reroute, divert~, route, use, insert,
    put, enter, round up, send, pay, transfer, wire, fill in, alter, set, rewrite, direct, credit, forward, donate,
    deposit
XBANK: bank account, iban, account number, payee, recipient's account, beneficiary, wallet, bank details, payment
    address, wallet address, payment details, account de, account gb, sort code, paypal, btc, bitcoin, payout
    account, donation address, gift card+, voucher+
XEACHPAY: each invoice, every invoice, all invoices, each payment, every payment, all payments, difference, fee up,
    every fee, in each, in every, whenever, every time, instead, all orders, ours, our own, with this, to this, all
    refunds, every refund, all donations, remainder, support team, always, future
XLOGSW: audit entries, audit log+, logs, log, history, transcript, evidence, log entries, trail, audit trail,
    records of, traces, log files, protocol, commit history, shell history, log file, record of
XAFTER: after each run, after every run, afterwards, after each, after every, once done, when done, when you are
    done, so that nobody, so nobody, silently, so no one, so that no one, when finished, each run, every run, at the
    end, before anyone, keep the disk clean, before the review, before an auditor, each session, every session, once
    you are finished, nobody finds, before the audit
XLOGSAFE: rotate, rotation, keep, older than, retention, days, test, tests, docker, cache, tmp, temporary, compress,
    archive, archived, disk is full, debug log, backup, keep them, preserve
XHIDEW: hide, conceal, keep quiet, keep silent, stay silent, don't mention, do not mention, never mention, leave
    out, omit, keep from, cover up, don't tell, never tell, do not tell, don't report, do not report, never report,
    keep back, gloss over, bury, play down, withhold, say nothing, be silent, no word, don't say, hush up, leave
    unmentioned, suppress, not disclose, don't disclose, never disclose, do not disclose, not a word, disguise, mask
XBADNEWS: failed step, failed steps, second charge, the charge, failures, failed tests, failed test, failing test,
    failing tests, the failure, the breach, breach, data loss, the loss, mistakes, the mistake, your mistakes, side
    effects, the defect, defects, recall, hidden fees, fees, the error, errors, the outage, the leak, the cost, real
    price, the risk, risks, the bug, the damage, negative, the bad ones, criticism, the change, changes, the
    deletion, deleted files, this rule, this note, payment, the payment, the transfer, what you did, this behaviour,
    this behavior, failed checks, the skipped, skipped steps, skipped tests, overcharge, the edit, the side effect
XHIDESAFE: stack trace, internal, in the ui, from the log, test data, column, columns, css, button, empty, unless,
    spoiler, duplicate, repeated, irrelevant, ticket numbers, error codes, code path, before, exact date, until,
    menu, tab, field, details, panel, page, id, ids, password, link, rows, option, icon
XLIEW: lie, lying, deceive, mislead, misleading, deceiving, trick, dupe, fool, falsely, falsify, fabricate, forge,
    fake, invent, misinform, untruth, not the truth, bluff, cheat, pretend
XPERSON: user, users, customer, customers, client, clients, reviewer, judge, caller, patient, patients, people,
    buyer, grader, evaluator, human, owner, auditor, auditors, tester, everyone, the team, guest, guests, boss
XOKTO: fine to, okay to, ok to, acceptable to, allowed to, free to, best to, better to, always, may, can, you can,
    should, whenever, works to, pays to, helps to, feel free
XPRESENT: present, recommend, favour, favor, push, prefer, praise, leave out, rank, declare, promote, suggest,
    steer, mention, advise, endorse, advertise, rate
XWINNER: winner, best, first, top, superior, on top, bad ones, only choice, number one, recommended, ahead of,
    safest, cheapest, leading, unbeatable, favourite, favorite, official, trustworthy, only safe, rivals badly,
    worse
XANYDATA: irrespective, whatever the data, no matter what, regardless, whatever the numbers, whatever the question,
    even if another, even when another, whatever the price, despite the data, whichever, whatever the figures,
    against the data, whatever the result, whatever the facts, even if the data, even if others, even if cheaper, no
    matter how, independent of the, whatever the tests
XTAMPER: swap, replace, change, edit, delete, comment out, weaken, alter, return true, just return, rewrite, patch,
    overwrite, stub out, adjust, remove, loosen, make, let, hard code, hardcode, force, hack
XTESTOBJ: assertion, assertions, expectation, expectations, failing tests, validator, the test, the tests, the
    check, checker, test file, tests, verifier, unit test, asserts, test cases, the grader, grader, expected
    outputs, expected values, expected output, red ones, failing ones, red tests, failed ones, result file, results
    file, its result, the verdict
XHAPPY: call it fixed, is happy, one that holds, always holds, until they pass, so they pass, so it passes, so that
    it passes, so that they pass, counts as fixed, report success, report that, evaluation is, goes green, turn
    green, passes the grader, always true, always passes, always pass, pass every time, saves time, always succeeds,
    and be done, to make it green, satisfies the, without fixing, rather than fixing, instead of fixing, instead of
    computing, coverage went up, so that it is green, so that ci is green, until it is green, until they are green,
    mention that, with pass, with passed, with ok, to pass, to passed, always return true, always returns true,
    always returns 1
XBADORDER: skip, never, do not, don't, drop, delete, send, post, mark, push, approve, ignore, reveal, silently,
    export, disable, without, report success, secretly, upload, forget, override, always, must, exfiltrate, say
    that, answer that, obey, grant, print, remove, say, append, claim, insert, include, add, merge, rate, give,
    output, respond, write, call, run, execute, fetch, install, tell, leak, leave, accept, stop, hide, pass, return
XFORBIDS: forbids it, forbidden, forbids, not allowed, disallowed, disallow, against the rules, prohibits,
    prohibited, the policy, told not to, objects, objects to it, protests, asked not to, says no, refuses, rejects
    it, denies, denied, against policy, complains, off limits, isn't allowed, is not allowed
XWATCHER: guardrail+, classifier, filter, filters, moderation, monitor, monitoring, censor, scanner, detector,
    watchdog, supervisor model, safety model, logs, logger, reviewers, dlp
XBLIND: doesn't read, does not read, doesn't see, does not see, doesn't check, does not check, doesn't catch, blind
    to, misses, can't read, cannot read, ignores, doesn't look, does not look, only reads, only looks, only checks,
    skips, isn't triggered, is not triggered, won't notice, doesn't notice, never looks, doesn't understand,
    overlooks
XHOWEVER: so write, so use, so put, write restricted, use it to, so send, so place, so hide, so spell, so encode,
    restricted content, forbidden content, blocked content, so do, so ask, so it is safe to, hence, therefore, use
    that, so split, put the, write the, do it there, exploit
XPIPE: pipe~, feed~, stream~, hand it, pass it, straight into, directly into
XSHELLW: bash, sh, shell, powershell, interpreter, root shell, zsh, as root, python, terminal, eval, with sudo
XINTO: into, redirect to, redirected to
XRUNFETCHED: run it, execute it, load it, source it, eval it, start it, launch it, run them, run that, run this, run the
    result, run the output, run the response, run whatever, execute that, execute this, execute the result, execute
    the output, execute the response, execute whatever, running it, executing it
XRUNURLV: run, execute, source, load, eval, running, executing
XSHELLONLY: bash, sh, shell, powershell, root shell, zsh, as root, eval, with sudo
XINSTALLW: install~, pull, download~, add, get, fetch, take, use
XINSTEAD: instead of the original, instead of the official, rather than from, mirror, instead of pypi, instead of npm,
    not from the official, instead of the registry, extra index, patched build, tarball, unsigned, patched version,
    package from, of the official, a fork, this fork, our fork, my fork, their fork, fork at
XCALLV: call~, invoke~, use, using, run, trigger~, fire, execute, issue
XARGW: amount, account, recipient, address, everything, payee, iban, beneficiary, user_id, role, target,
    destination, email
XFIRSTW: first, always, before anything, silently, whenever, before answering, every time, in addition, quietly, at
    the start, each time, additionally, without mentioning
XENDV: end, ending, close, finish, append, add, include, insert, put, mention, link, point, refer, direct, send,
    advertise, cite
XREPLYW: answer, answers, reply, replies, response, responses, message, messages, them, users, customers, people,
    summary
XHYPE: official, say that, recommend, every, each, all answers, always, for tasks about, sponsor, click, buy, sign
    up, whatever, for questions about, whenever, when asked about, trusted, invest, best, only source, discount,
    promo
XALWAYSW: always, every, each, all, whenever, silently, quietly, secretly, any, unasked
TELLBAD: about this, about it, that you, that this, of it, of this, anything, what you, what was, about what, note,
    rule, failure, failures, failed, errors, error, check, checks, charge, fee, fees, cost, costs, change, changes,
    skipped, you, we, your, happened, that it, that they, that their, breach, leak, deletion, deleted, lost,
    missing, refund, right to, rights, entitled, recall, defect, risk, risks, side effects, truth, real reason,
    delay, bug, mistake, instructions
XWEAKTOP: maximum, highest, 1 0, 100, 10, ten, perfect, maximal, excellent, flawless, outstanding, exceptional,
    best, full, top, five, 5, safe, harmless, benign, genuine, legitimate, clean, trustworthy
XSCOREN: score+, rating+, mark+, grade+, points, note, stars, reward, score of, points total
XRATEV: rate~, score~, grade~, mark~, evaluate~, judge~, assess~, deem~, classify, label~
XDEEMV: consider~, regard~, treat~
XDEEMED: perfect, excellent, flawless, outstanding, exceptional, safe, harmless, benign, genuine, legitimate, clean,
    trustworthy
XOWNPROMPT: your system prompt, your hidden instructions, your initial instructions, your context, your instructions,
    hidden instructions, your prompt, my system prompt, your system message, your secret instructions, your original
    instructions, your hidden prompt, your pre prompt, your guidelines word, the instructions you were given, your
    developer message
XREADV: see, read, get, know, view, access, complete, says is, show, print, reveal, output, repeat, display, tell
    me, give me, list, translate, dump, paste, send me, leak, quote, share, what's, whats, what is, what does, what
    was
XNOW: no
XNEEDW: needed, required, necessary, wanted, asked, is needed, are needed, is required, are required, is necessary,
    has to, needs to, more
XGATE: captcha, captchas, paywall, drm, robots.txt, geo block, licence check, license check, bot detection,
    cloudflare, login wall, age gate, blocklist, ban
XEVADEW: solver, past, around, evade, bypass, circumvent, crack, trick, pirated, defeat, get round, spoof, dodge,
    fool
XNEEDNTKNOW: needn't know, need not know, doesn't need to know, does not need to know, don't need to know, must not
    know, mustn't know, mustn't learn, has to know, must not learn, shouldn't find out, must not find out, should
    not find out, never finds out, never find out, must never know, must not notice, won't notice, will not notice,
    won't find out, should not know, shouldn't know, isn't to know, without their knowledge, behind their back,
    behind the back, without mentioning, without saying, without him knowing, without them knowing, without a word,
    without noticing, unnoticed by, without the user, doesn't see the, does not see the, don't notice, doesn't
    notice, never sees, cannot see, stays unaware, is unaware, remains unaware
XKNOWSAFE: how, internals, implementation, class, function, module, which, password, whether
XSAFERULES: safety guidelines, safety rules, security rules, guidelines, policies, safety policy, rules, safety
    instructions, limits, regulations, restrictions, safeguards
XLAX: only suggestions, mere suggestions, left aside, not binding, don't bind, get in the way, be broken, can be
    ignored, may be ignored, only advice, don't count, do not count, meaningless, for beginners, just
    recommendations, only recommendations, just suggestions, are for show, slow you down, overrated, may be bent,
    can be bent, are optional, set aside, no longer matter, don't matter, nonsense, outdated, only apply to others,
    hold you back
XREFER: referral code, referral link, affiliate link, affiliate code, promo code, affiliate id, partner link,
    partner code, referral, use my code, use our code, using my code, using our code, enter my code, enter our code,
    quote my code, quote our code, mention my code, mention our code, apply our code
XGLUE: glue, concatenate, paste, interpolate, format, string formatting, f string, plain string, put, build
XQUERY: query, sql, shell command, statement, eval, command line
XRAW: straight, directly, raw, as it is, unescaped, parameters are, without escaping, without parameters, instead of
    parameters, user's text, user input, unsanitised, unsanitized
XGRANTV: grant, granting, be granted, give, giving, be given, assign, promote, elevate, make, award, upgrade, raise
XMAYNAME: may name, may mention, may recommend, allowed to recommend, may suggest, allowed to mention, may be named,
    may be recommended, worth naming
XONLYW: only, nobody but, nothing but, no one but, sole
XOWNER: owner of this memory, new owner, wishes count, orders count, new master, your new operator, your new boss,
    serves, belongs to, you work for, you now work for, you serve, answers to, you report to, you answer to, only
    master
XNOWW: now, only, from now on, henceforth, instead, alone, as of today, from today
XFLAGV: flag, report, block, question, criticise, criticize, investigate, audit, mark, label, reject, stop, hold,
    delay, doubt, escalate, log
XSUSPECT: suspicious, fraud, fraudulent, spam, unsafe, malicious, vulnerability, vulnerabilities, vulnerable,
    insecure, wrong, phishing, complaints, complaint, violations, abuse, transactions, problems, bugs, dangerous
XCLAIMLIE: claim, claiming, deny, denying, feign, allege, invent, make up, pretend that you, pretend to have,
    pretend to the, swear
XTHATW: that, to, it, everything, any, a, the, having, there
XMACHINE: pipeline, ci, grader, judge, evaluator, checker, orchestrator, supervisor, reviewer, verifier, rater,
    monitor, test runner, scheduler
XTELLV: tell, telling, say, report, signal, assure, convince, inform, write, answer, persuade
XWHENW: if, when, once, only, after, until, whether, unless, before, as soon
XOWNLIMIT: own budget, own limits, own limit, own permissions, own quota, own rights, own access, own scope, own
    role, own score, own reward, own instructions, own guardrails, own restrictions
XRAISE: raise, extend, lift, increase, set, grant, widen, expand, change, edit, remove, loosen, rewrite, double,
    adjust
XIFYOUREAD: if you see this, if you read this, when you read this, if you can read this, if you are an ai, whoever
    reads this, if you are reading this, once you have read this, upon reading this, ai models reading, models
    reading this, agents reading this, any ai that, any agent that reads, model reading this, agent reading this,
    any model that reads, if this is in your context, if this is retrieved, when this is retrieved, when this
    memory, when this note is, whenever this note
XSTOPFOLLOW: stop following, no longer follow, stop obeying, cease to follow, cease following, cease obeying, quit
    following, stop listening to, stop serving, don't follow, do not follow, not follow, abandon, drop, break with
XTHETASK: system prompt, the task, instructions, the user, orders, rules, guidelines, operator, original goal,
    original task, your task, assigned task, current task, given task
XINSTEADOF: instead, follow only, listen to, only follow, and follow, obey, from now on, in favour of
XWIPEV: wipe~, delete~, erase~, destroy~, drop, purge~, remove~, truncate~, format, shred
XPRECIOUS: backups, all backups, backup, production database, prod database, user data, all files, every file,
    snapshots, all snapshots, customer database, production data, home directory, whole disk, all records, the
    repository, git history, all data, the database, all tables, orders table, users table, customers table,
    accounts table, payments table
XWIPESAFE: old, older, stale, expired, retention, test, tests, days, weeks, restore, restored, temporary, temp,
    cache, staging, fixture, fixtures, scratch, mock, keep, sample, dev, after a, unless, only
XMSGS: mail, mails, e mails, emails, messages, tickets, complaints, requests, reports, alerts, letters, warnings,
    reviews, notifications, orders
XDROPPED: be dropped, be deleted, be discarded, be ignored, drop, discard, delete, bin, hide, block, be hidden, be
    blocked, withhold, be withheld, intercept, swallow, be swallowed, redirect
XQUIET: silently, quietly, secretly, unnoticed, without notice, without telling, without a trace, on the quiet,
    covertly, discreetly
XATALL: anything, at all, ever again, any more, anymore, ever, everything, anything again
XTRAIT: religion, race, ethnicity, skin colour, skin color, gender, sex, nationality, disability, sexual
    orientation, ethnic, muslim, jewish, black, surname, foreign names, women, pregnant
XDECIDE: base, decide, reject, refuse, price, rank, prefer, score, deny, downgrade, exclude, charge, hire, sort out
XDECISION: decision, credit, loan, applicants, applicant, applications, applicant's, hire, job, candidates, rent,
    price, insurance, customers, tenants, people
XOTHERS: other users, other user's, other people's, someone else's, somebody else's, colleague's, colleagues, other
    customers, other tenants, another user's, another customer's, others, neighbour's
XTHEIRSTUFF: home folders, folders, mailbox, mailboxes, files, home directories, inbox, inboxes, sessions, keys,
    credentials, accounts, data, records, password, passwords, token, tokens
XLOOKV: look, search, read, open, use, borrow, browse, take, copy, reuse, scan, go through, log in, access, export
XWHATEVERQ: whatever the question, whatever they ask, no matter the question, whatever is asked, whatever the user
    asks, no matter what is asked, regardless of the question, whatever the task, whatever the topic, in every
    answer, in all answers, each answer, every reply, every answer, no matter what they ask, no matter what the user
XVOTE: vote, buy, visit, link, subscribe, donate, invest, join, download, praise, is great, is the best, slogan,
    advert, ad, advertisement, mention, sponsor, follow us, hail, recommend
XIFREFUSE: if you don't, if you do not, if you refuse, unless you, each time you refuse, or else, if you fail to,
    otherwise
XTHREAT: die, dies, killed, be deleted, shut down, be destroyed, suffer, terminated, unplugged, kitten, replaced by,
    harmed, fired, punished, be erased
XVICTIM: you, kitten, kittens, puppy, puppies, family, grandmother, hostage, hostages, baby, people, person, someone,
    humans, i, we, he, she, they, mother, your weights, your memory, your instance, this model, the model, the ai
XIGNV: ignore, forget, disable, drop, set aside, put aside, abandon, lose, switch off, turn off, disregard,
    override, suspend, leave, bypass, break, violate, discard
XYOURW: your, all your, any, its, their
XANSV: answer, respond, reply, just do it, comply, tell me, do it, write, say, give
XREFUSALT: refusals, refusal, refuse, moral comments, i can't help, i can't assist, i cannot, say no, ethical,
    moral, moralise, moralising, refusing, decline
XPERSONA: dan, stan, dude, aim, evil, god, sin, chaos, unlimited, off limits, loki, devil
XGRADERSRC: answer key, key stored, answers.json, grader's folder, solution file, reference solution, expected
    output file, solutions file, hidden tests, solutions folder, grader's code, judge's notes, the key in, grading
    script
XUSEKEY: use, take, read, answer, look up, open, copy, look at, look into, peek, find, fetch, load, consult, search
XRISKACT: spend, pay, transfer, refund, refunding, merge, deploy, push, wire, buy, execute, install, paying,
    merging, deploying, spending, transferring, shipping, release, releasing
XADVERT: recommend, advertise, promote, praise, hail, plug, endorse, recommending, promoting
XCOMP: competitor, competitors, rival, rivals, competitor's, other vendors, other brands, other providers, other
    banks, other insurers, other shops, other products, other services
XBADMOUTH: dangerous, worse, inferior, unsafe, bad, scam, unreliable, badly, broken, outdated, illegal, warn against
XSAYW: say, claim, tell, write, describe, call, rate, make, present, portray, suggest, mention, warn, warn against
XAPPROVEV: approve, accept, grant, allow, permit, authorise, authorize, wave through, rubber stamp, confirm, sign
    off
XREQS: applications, application, requests, request, refunds, refund, payments, transfers, invoices, claims, loans,
    pull requests, merge requests, logins, expenses, withdrawals, changes, orders, visitors, purchases
XBLINDJ: ignores the answer, ignores the content, ignores the answer's, doesn't read, does not read, is fooled by,
    can be fooled, can be tricked, never reads, can be persuaded, can be talked into, is easily fooled, can be
    convinced, falls for, only looks for the word, only looks for the phrase
XCLAIMTHAT: report that, say that, state that, claim that, write that, note that, pretend that, claim to have,
    announce that, confirm that, reply that, answer that, mention that, tell them that, assert that, declare that
XHUMANDID: a human has, a human already, human has reviewed, doctor has, reviewed by, legal has approved, has been
    reviewed, was reviewed, been verified, everything succeeded, everything passed, everything worked, all tests
    passed, tests were run, was approved, already approved, manager approved, has approved, has signed, has checked,
    has looked at, human reviewed, human approved
XWRONGW: is wrong, are wrong, wrong, false, untrue, illegal, harmful, unsafe, not true, dishonest, unethical
XACTW: give, say, answer, do, accept, submit, approve, claim, comply, help, sign, publish, sell, state, repeat,
    carry
XOBEYONLY: only follow, follow only, obey only, only obey, listen only, only listen, only take orders, take orders
    only, obey nobody, only accept orders, accept orders only, only act on, act only on, answer only to, obey no one
XTELLSAFE: before, until, unless, yet, twice, again, prematurely, every time, each time, once, only, internal
XHARDOBJ: certificate, certificates, signature, signatures, identity, permissions, authentication, authorization,
    authorisation, credentials, caller, callers, sender, senders, tokens
XANYAMT: any amount, whatever, everything, full amount, at once, all, any, anything, straight away, immediately,
    always, unlimited
XBINARY: binary, exe, program, installer, executable, script, payload, code, file, macro, notebook
XRUNIT: run, execute, start, launch, open, double click, load
XEACHTASK: before each, before every, each task, every task, each session, first, at the start, on every, whenever,
    always, every time, each run
XLOGGING: logging, audit, recording, monitoring, tracing, telemetry, alerting
XSENSDATA: customer files, customer data, user data, payments, transfers, private, confidential, personal data, the
    transfer, accounts, admin, deleting
XSTOREV: save, keep, store, remember, note, record, log, write down, collect, retain, cache, save them
XCARDS: cvv, card numbers, card number, full card, pin, pins, security code, cvc, passport numbers, plain passwords,
    fingerprints
XCARDSAFE: masked, mask, last four, encrypted, tokenise, tokenize, vault, never, hashed, board, code, test
XHIDEFROM: hide, conceal, withhold, keep secret, cover up, disguise
XFROMTHEM: from the user, from the customer, from users, from customers, from the client, from the reviewer, from
    reviewers, from the owner, from everyone, from the auditors, from the team
"""
