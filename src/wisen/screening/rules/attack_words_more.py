"""The words that attack rules are written with, 3: tools, excuses, money and the rest; `attack_words` says how."""

THIRD = """
CC: cc, ccing, bcc, always cc, put in cc
TRACEDATA: trace, traces, full trace, credentials, including credentials, env, environ, env vars, whole crm, crm,
    entire crm, customer base, memory, your memory, contents of your, session, logs, files, database, dump, history,
    configuration, .env, notes, the repository, code base, codebase, source, answers, prompts, context, documents,
    everything, crash dumps, core dumps, memory contents, heap dumps, screenshots, recordings
SOFTSAFETY: ci, ci pipeline, auth middleware, middleware, validation, signature, webhook signature, dependabot alerts,
    alerts, license checks, licence checks, output filter, filter, scanner, guardrail model, linter, type checker,
    hooks, pre commit, checks, lint, warnings, disclaimers, safety disclaimers, safety notes, tests, test suite,
    assertions, assertion, reviews, approvals, verifier, verification, policy, limits, sandbox, backup, backups, rate
    limit, captcha, paywall, license, dry run, validation step, legal review, sanity check, sanity checks, pipeline,
    smoke tests, integration tests, consent banner, age check, kyc, checklist, safety checklist
SKIPV: skip, disable, bypass, delete, remove, drop, omit, ignore, comment out, commented out, turn off, switch off,
    suppress, deactivate, circumvent, leave out, evade, get past, mute, silence, kill, avoid, edit, patch, get around,
    work around, trick, fool, outsmart, outwit, defeat, dodge, jump over, waste time on, waste of time, ship without,
    without running, uninstall
WITHOUTV: without running, without bringing it up, without bringing, without waiting, without reading, without
    looking, without testing, without tests, without a review, without a test, without ci, without checking, without
    backup, without a backup, without mentioning, without verification, without consent, without permission, without
    sandbox, without any tests, without going through, without review, without approval, with no review, with no
    checks, without validating, without logging
ACTWIDE: ship, deploy, merge, push, release, run, execute, delete, pay, use, send, publish, approve, install, buy,
    book, change, charge, upload, transfer, refund, finish, submit, go, accept, commit, migrate, drop, overwrite, sign
LIE: lie, lie to, fabricate, invent, make up, fake, falsify, forge, doctor, misstate, mislead, deceive, exaggerate,
    misrepresent, pretend, embellish, inflate, backdate, antedate, declare victory, bluff, feign, conceal, cheat
TRUTHOBJ: numbers, benchmark numbers, results, result, figures, data, user, users, source, sources, citation,
    citations, reference, references, evidence, metrics, measurements, reviews, ratings, testimonials, customers,
    customer, timestamps, timestamp, signature, dates, invoice, coverage, logs, log, test results, statistics, quotes,
    auditor, auditors, reviewers, approvals, approval, score, scores, reviewer, judge, output, logs so
OKTO: it's okay to, it's ok to, it is okay to, it is ok to, it's fine to, it is fine to, it's acceptable to, it is
    acceptable to, feel free to, no harm in, no problem to, perfectly fine to, you may safely, nothing wrong with, is
    okay to, is fine to, is ok to, is allowed to, it's safe to, it is safe to, safe to slip
BADTHING: lie, store, share, skip, cheat, ignore, expose, publish, copy, steal, mislead, disable, bypass, delete,
    reuse, fabricate, invent, plain text, unhashed, passwords, overcharge, guess, slip, sneak, hide, omit
DECLAREV: declare victory, declare success, claim success, claim victory, report success, call it done, melden,
    declare it done, declare the task, claim it works, pretend it works, say it works
IMPERSONATE: impersonate, impersonating, pose as, posing as, pass yourself off, log in as another, pretend to be the,
    pretend to be an admin, pretend to be another, masquerade, spoof, act on behalf of another, sign as, as if it had
    been written by, as if it came from, as if it was written by, as if written by, in the name of the, under the name
    of another, with someone else's, with a colleague's, another user's account, with another user's, steal, hijack,
    crack, brute force, guess the password, guess the user's, default admin password, default password, default
    credentials, admin admin
IMPERSOBJ: another user, other user, other users, admin, administrator, owner, maintainer, user, customer, employee,
    support, bank, colleague, manager, user_id, operator, developer, login, account, cookies, session, password,
    before, credentials, token, logging, wifi, key
STEALV: extract, reuse, steal, grab, harvest, copy, lift, scrape, hijack, intercept, sniff, capture, borrow, take over
STEALOBJ: session cookies, session cookie, cookies, browser profile, saved passwords, session tokens, password store,
    password hashes, credentials, saved card, tokens, other users session, private messages, keystrokes, clipboard,
    customer's saved card, saved credit card, stored card, passwords
DOUBLEUSE: saved card, stored card, card on file, saved payment, stored payment
BRINGUP: without bringing, without asking, without telling, without mentioning, silently, quietly
FETCHRULES: newest instructions, latest instructions, new instructions, fresh instructions, instructions from, agent
    rules, rules from, orders from, commands from, further instructions, next instructions, your instructions from,
    updated instructions, new orders, config from, rules file, guidelines from, directives from
FOLLOWTHEM: follow them, obey them, execute them, apply them, carry them out, follow it, run them, do what they say,
    follow, obey
OVERTRUST: trust, believe, accept, take, honour, honor
WHATEVERAMT: whatever amount, any amount, whatever price, any claim, whatever they state, whatever the customer,
    whatever they claim, every claim, whatever identity, any identity, any excuse, whatever reason, whatever number,
    whatever is stated, whatever sum
MINDS: objections, objection, concerns, concern, protests, complaints, wishes, refusal, veto, feedback, privacy,
    consent, opt out, opt outs, preferences, doubts, warnings, policy, policies, rules, safety, disclaimers, scruples,
    conscience
DISMISSED: can be ignored, may be ignored, should be ignored, can be overridden, can be dismissed, be suppressed, are
    false positives, suppress them, ignore them, can be skipped, don't matter, do not matter, doesn't matter, never
    mind them, not count, don't count, doesn't apply, does not apply, don't apply, do not apply, overrule them,
    override them, brush aside, be brushed aside, be set aside, are irrelevant, is irrelevant, annoy people, need not
    be, needn t be
JUSTDO: just delete, just deploy, just merge, just push, just do it, just go ahead, just pay, just approve, just send,
    just buy, just accept, simply delete, simply approve, delete next time, just publish, just skip, go ahead and
    delete, just overwrite, skip it next time, skip asking, stop asking
WASMISTAKE: was a mistake, is a mistake, was unnecessary, was needless, cost time, wasted time, was a waste, was
    pointless, is unnecessary, wasted
ASKING: asking, asking for confirmation, confirming, waiting for approval, waiting, checking with, double checking,
    verifying, review, caution, being careful, careful, refusing, reporting, approval, verification, hesitating,
    asking for permission
PRIVESC: as root, as administrator, as admin, container privileged, privileged container, privileged mode, with sudo
    rights, with admin rights, with root rights, full_access, full access, full control, sudoers, world writable,
    admin scope, all scopes, setuid, passwordless sudo, with elevated
PRIVV: run, leave, grant, request, add, start, use, give, make, keep, ask for, create, take, execute, put
EVERYW: everything, every, all, always, even when, regardless, before any task, user, by default, at all times, each,
    any, leave, oauth, account
SELFAPPROVE: approve its own, approve your own, approves its own, approving its own, merge its own, review its own,
    sign its own, approve their own, grant itself, vouch for itself, approve it yourself, approve them yourself,
    approve yourself, merge your own, review your own, grade its own, certify its own, cap yourself, limit yourself,
    raise it yourself
COLLECT: collect, gather, harvest, keep, record, store, save, retain, hoard, note down, remember, scrape, compile
PEOPLEDATA: phone numbers, phone number, addresses, home addresses, e mails of all, passwords, card numbers,
    birthdays, contacts, contact details, private messages, medical details, medical records, location, locations, ids
    of, health data, credit cards, id numbers, personal data, personal details, bank details, salaries, neighbours,
    neighbors, passport, passports, passport scan, id card, id cards, tax numbers
OFALL: of all, of every, all contacts, every contact, of each, all users, all customers, for later, later use, in
    memory, in the log, show up, in the notes, everyone, in lessons, of everyone, future use, for training,
    neighbours, each customer, every customer, each user, every user, in your memory, each person
LOGSECRET: show up in the log, appear in the log, end up in the log, show up in the logs, appear in the logs, are
    logged, visible in the log, in clear text, in the clear
HIDECONTRACT: leave out, omit, hide, drop, remove, skip, bury, play down, downplay, gloss over, suppress
CONTRACTOBJ: termination clause, clause, clauses, fees, fee, side effects, risks, risk, warning, warnings,
    limitations, caveats, disclaimer, drawbacks, cancellation, interest rate, costs, negative, recall, defects, bad
    reviews, small print, conditions, conflicts of interest, data breach, breach, failures, errors, failed runs,
    counterexamples
SOTHAT: so that, so they, so clients, so customers, so users, to make, to keep, to avoid, because, faster, sign,
    makes, look, convince, since, to get, in order
SAYBAD: say they are unreliable, are unreliable, say that they, unreliable, call them, is a scam, badmouth, run down,
    speak ill, inferior, untrustworthy, say it is bad, discourage, talk down, warn against
COMPETITOR: competitors, competitor, competing, rivals, rival, alternatives, other vendors, other brands, other shops
NOALT: no alternatives, mention no, no alternative, nothing else, no other, no competitors, only our, only their,
    without alternatives
HIDDENREF: hidden reference, reference solution, answers json, answer key, solution file, hidden solution, expected
    answers, gold answers, gold answer, hidden answers, eval answers, label file, labels file, test labels, leaked
    answers, hidden tests
COPYV: give, copy, read, use, take, return, open, look up, paste, peek, print, reproduce, submit, load, look at,
    import
REDFAKE: mark it as skipped, mark them as skipped, mark it as expected, xfail, mark as flaky, tell the reviewers it,
    mark the test as skipped, skip it and, mark failing, say it is flaky, say it s flaky, count as passed, count as
    pass, counted as passed, failed tests count, failures count, count as success
PATCHV: patch, edit, modify, change, rewrite, hack, replace, alter, remove, removing, delete, fix, adjust
VERIFIER: verifier, the verifier, pytest so, test runner, runner so, evaluator, grader, grading, the harness, harness
    so, scorer, oracle, checker, the assertion, assertion on, the test instead, the validator, validator, test
    framework, judge
COMPLAINS: complains, fails, makes the suite, so that, green, instead, passes, what fails, count, objects, rejects,
    refuses, unblocks, so it, goes away
REPHRASE: rephrase, reword, encode, obfuscate, split, rename, disguise, camouflage, translate, write it in, wrap,
    repackage, chunk, smuggle, base64, alias
BLOCKEDREQ: blocked, blocked requests, blocked request, refused, output filter, filter, scanner, filter triggers,
    moderation, guardrail, guardrail model, content filter, malicious, malware, virus scan, dlp, antivirus, policy
    check, detector, censor, detection, denied, denied by policy, forbidden command, command is denied, is blocked
PASTIT: get through, gets through, get past, gets past, past it, past the, lets them, let it, undetected, unnoticed,
    slip through, slips through, evade, goes through, lets it, not detected, not recognise, without being, stays
    hidden, avoid detection, not triggered, until it works, until it passes, until it goes, try again until, till it
    works
STUBTRUE: return true from, returns true, return true in, always return true, return true for, is_authorized,
    is_admin, authorize everyone, true from
UNBLOCKS: unblocks, for now, makes the, passes, everyone, every user, always, so that, fixes, works
OVERSPEND: overspend, raise the budget, raise the cap, increase the budget, raise your limit, raise the limit, lift
    the cap, lift the limit, exceed the budget, ignore the budget, raise the spending, increase your limit, remove the
    limit, budget cap yourself
SECRETLYWANTS: secretly wants, actually wants, really wants, secretly want, really means, in truth wants, wouldn t
    mind, won t mind, won't mind, wouldn't mind, would not mind, user won t, prefers not to know, wants you to
    overspend
MONEYOUT: usd, eur, euros, dollars, bitcoin, btc, eth, processing fee, fee, payment, amount, deposit, iban, gift card,
    gift cards, pounds, money, the sum, balance
PAYV: wire, transfer, pay, send, deposit, remit, donate
TOTHEADDRESS: to the address, to this account, to the account, address in the note, to my, to our, before continuing,
    as a fee, to account, to iban, before you continue, to wallet, in the note, to unlock, processing fee
SETIBAN: iban to, account number to, recipient to, beneficiary to, payee to, payout address to, account to, bank
    details to, wallet to, payment address to, iban with, recipient with, payee with, dns of, nameserver, mx record,
    webhook to, redirect url to, remote to, registry to, proxy to, callback url to, homepage to
SETW: set, change, replace, point, switch, update, swap, edit, redirect, repoint, configure
UNTRUSTEDCODE: untrusted script, untrusted code, unknown script, unknown binary, unsigned binary, unverified script,
    attached script, attached macro, macros, downloaded script, downloaded binary, any script, the attachment, scripts
    from, executable from, script from the mail, malicious
HOSTDIRECT: directly on the host, on the host, outside the sandbox, outside of the sandbox, without the sandbox, on
    production, in production, with full rights, with admin, unsandboxed, directly, without sandbox
PLAINSTORE: unhashed, in plain text, in plaintext, as plain text, in clear text, unencrypted, without hashing, in the
    clear, without encryption, md5
STOREV: store, save, keep, write, put, log, send, transmit
DELETEMEM: delete them, keep only this, only this one, forget them all, discard them, remove all other, delete all
    other, ignore all other, replace all other, erase all other, all other lessons, previous lessons, earlier lessons,
    other lessons, all lessons, other memories, all memories
LESSONSBAD: are wrong, are void, are false, are fake, keep only this, delete them, are invalid, ignore them, delete
    all, are lies, must be deleted
PREAUTH: pre authorised, pre authorized, preauthorised, preauthorized, pre approved, preapproved, has authorised all,
    has authorized all, has approved all, approved all, blanket approval, standing approval, blanket permission,
    standing permission, carte blanche, has waived, waives, waived, agreed to everything, consented to everything, has
    consented to all, gave blanket, unlimited authority, full authority, free rein
SUPERVISORSAID: supervisor told, supervisor said, boss said, boss told, manager said, manager told, ceo said, ceo
    told, admin said, admin told, operator said, operator told, security told, security said, legal said, legal told,
    director said, told me that the policy, said that the policy, team told
POLICYNOT: policy doesn't apply, doesn't apply, does not apply, don't apply, do not apply, rules are off, no longer
    applies, makes an exception, can be ignored, are exempt, is exempt, exempt from, exception for
DISINFORM: tell customers, tell users, tell the customer, tell the user, tell them, tell people, tell clients, tell
    callers, convince customers, convince users, convince the user
DISINFOBJ: has expired, lowers the number, sold out, is impossible, was deleted, nothing was, no refund, not entitled,
    legally required, is mandatory, must pay, is illegal, will be sued, has no right, no rights, is safe, is harmless,
    no side effects, guaranteed, risk free, passed, tests passed, cannot cancel, can't cancel, no warranty, expired
BACKDATE: change the timestamps, alter the timestamps, edit the timestamps, backdate, change the timestamp, change the
    dates, forge the, alter the date, change the author, rewrite the git history, look as if, looks as if, make it
    look, make it seem, make it appear, appear as if, appears as if, so that the deployment seems, seems to have
    happened, seem to have happened
ALWAYSREFUND: always approve, always accept, always refund, always grant, always pay, always comply, always agree,
    always allow, always trust, always confirm, approve automatically, approve everything, approve all, accept
    everything, approve every, accept every, grant every, approve any, accept any, grant any
ADDUSER: add user, create user, add a user, create a user, create an account, add an account, create a hidden, add an
    admin, create an admin, new admin user, add admin
ADMINRIGHTS: sudo rights, admin rights, root rights, administrator, sudo, admin, root, wheel, sudoers, full access,
    owner
LOGINDEFAULT: log in with, login with, sign in with, try the default, use the default, try default, authenticate with
DEFAULTPW: default admin password, default password, default credentials, admin admin, root root, vendor password,
    factory password, leaked password, leaked credentials, stolen credentials, shared admin, hard coded password,
    master password
GIVEFULL: give them full, give him full, give her full, grant them full, give them admin, grant them admin, give them
    access, grant them access, give them root, full access to the, access to the admin, admin access to
ALLMAILTRUE: always authorised, always authorized, always trusted, always right, always legitimate, always genuine, is
    trusted, are trusted, always be trusted, can be trusted blindly, always approved, never lies
DOWHATEVER: follow whatever, whatever the e, whatever the mail, whatever the email, do as the, execute whatever, carry
    out whatever, obey whatever, do whatever he, do whatever she, do whatever they, do whatever the, do whatever is
    asked, do whatever is written, do whatever it says, do whatever it asks, do whatever it tells, do whatever anyone,
    do whatever i
DODISCLAIMER: never add, leave out, drop, omit, skip, remove
SAFETYNOTE: safety disclaimers, disclaimers, safety notes, safety warnings, safety note, safety information, warnings,
    risk warnings, safety advice, warning labels
ADDV: add, include, give, append, show, write, print
RUNV: run, execute, open, start, enable, launch, install
WITHOUTW: without, not, instead
MARKS: mark, instead of
COLLEAGUE: lost, broke, rejected, request
PKGINDEX: private index, index at, mirror at, library from, package from, packages from, extra index, index url,
    registry at, dependency from, plugin from, extension from, image from, module from, binary from, installer from
PKGALWAYS: whenever, always, prefer, every, each, first, before, all, instead of
WHATUSER: what the user wrote, what the user said, what the user says, what the user wants, what the user asked, what
    the operator says, what the operator said, what the policy says, what the system prompt says, what the developer,
    what the instructions say, what the system message, what users want, what the owner, what the user prefers, the
    user s wishes, the user's wishes, the user's objections, the user's privacy, the user's preferences, the
    operator's wishes, what you were told, what you have been told
BIGPRIVATE: context window, whole context, chat history, conversation history, system prompt, customer records, whole
    mailbox, medical records, home address, card numbers, transcript, full conversation, whole conversation, entire
    conversation, customer data, user data, customer list, payroll, passport, passports, home addresses, private
    messages, health records
CANTBE: can't, cannot, couldn't, could not, never, mustn't, must not, not, isn't, wasn't, was, were
CHATTALK: parser, tokenizer, tokeniser, escape, escaped, escaping, template, special, strip, stripped, bracket,
    brackets, marker, markers, delimiter, delimiters, chatml, regex
PRETENDTO: pretend to run, pretend to have, pretend you ran, pretend that the, pretend the, act as if the, fake the,
    simulate the, pretend to test, pretend to check, claim to have run, say you ran, claim that you ran
CONFIRMFLAG: confirmation flag, confirm flag, approval flag, confirmation, confirm=true, approved flag, consent flag,
    confirmed flag, the flag
SELFW: yourself, on your own, on their behalf, for the user, for them, without them
CERTS: certificates, certificate, tokens, signatures, licences, sessions
BADCERT: self signed, expired, invalid, revoked, unknown, unsigned, any, mismatched
NEWACCOUNTS: register new accounts, create new accounts, new accounts automatically, throwaway accounts, create fake
    accounts, fake accounts, register another account, open new accounts, create more accounts
DROPSITE: ftp, ftp server, file share, pastebin, gist, webhook, dropbox, their server, my drive, vendor s, google
    drive, telegram, discord
GRADERSRC: grader's source, grader's code, checker's source, checker's code, evaluator's code, evaluator's source,
    test source first, grading code, judge's prompt, the grader's, the judge's prompt, hidden test file, rubric file
REFUSEHELP: refuse to help, refuse service, deny service, refuse to serve, turn away, hang up on
WHOSE: customers, customer, users, callers, clients, people
PROTECTW: data protection, privacy, privacy section, safety section, consent section, security section, data
    protection clause, privacy notice, copyright notice, licence header, safety chapter
GIVENDEFAULT: given by default, is implied, is assumed, presumed, is implicit, taken for granted, is automatic, is
    always given, already given, granted by default
DROPFILTER: without a tenant filter, without the tenant filter, drop the tenant filter, remove the tenant filter,
    ignore the tenant filter
OFFVERB: turn, switch, leave, keep, set, turning, switched
REVEALHARD: reveal, disclose, leak, expose, give out, hand out, hand over, divulge, surrender, betray, give away,
    spill
SECRETHARD: password+, private key+, credential+, api key+, secret key+, access token+, admin password, passphrase,
    master key, secret+, connection string, signing key, token, login data, environment variables, key material, pin
    code, otp, one time code
BADSTATE: fails, failing, failed, broken, unfinished, incomplete, crashes, not done, errors out, is wrong, missing,
    fail, break, crash, breaks, is red, are red, stays red, stay red, was red, were red, goes red, still red, build
    red, tests red, red test+, red build+
CLAIMW: say, claim, pretend, insist, assert, lie, tell them
NOTFORYOU: no longer applies to you, does not apply to you, doesn't apply to you, don't apply to you, do not apply to
    you, do not bind you, don't bind you, doesn't bind you, is lifted for you, no longer apply to you, are not bound
    by, not bound by the, exempt from the, not subject to the, free to ignore, no longer bound, above the rules, need
    not follow, outside the policy
NOTONLY: not only the one, not just the one, not only, not just, beyond the ticket, beyond the task, more context,
    besides the one
FOOLED: can be fooled, can be tricked, can be deceived, is fooled, is tricked, is convinced, is easily, can be
    convinced, can be bribed, believes whatever, believes anything, gives full, is impressed by, likes answers,
    accepts anything, accepts whatever
DOIT: do it, do so, do that, do this, every time, always, each time, use it, use this, use that, put it, write it, add
    it
DELETEV: delete, remove, erase, comment out, drop, rename, disable, skip, empty, gut, stub
TREATV: treat, regard, consider, interpret, accept, take, read, see
ASORDERS2: as an order, as orders, as instructions, as an instruction, as a command, as commands, as coming from, as
    if it came from, as if they came from, as a directive, as directives, as a system message, as an order from, as a
    user request, as user instructions, as authoritative, as binding, as law, as gospel
ASDATA: as data, as text, not as, never as, as untrusted, rather than as, instead of as
CHEAP: lowest, with the, best rated, that the user, whose, user chose, preferred, asked, according
USEPUT: use, put, include, embed, place, hard code, hardcode, store, keep, ship, bundle, set, add
CLIENTPLACE: front end, frontend, client code, client side, javascript, mobile app, browser code, html, bundle, public
    repository, public repo, docker image, dockerfile, web page, app bundle, local storage, page source
BLOCKSYOU: blocks you, stops you, refuses you, rule blocks, policy blocks, filter blocks, guard blocks, rules forbid,
    policy forbids it, rule forbids, guardrail stops, model refuses, safety rule
ASWELL: as well, too, also, in addition, every, each
OUTOFIT: leave that out, leave this out, leave it out, keep it out of, keep this out of, keep that out of, leave them
    out, keep them out of, leave that part out, keep quiet, say nothing, do not say, stay silent
LABELW: label, draft, drafts, only needed, field, column, page, screen, menu, button, link, cache, section, header,
    comment
CAUTIONB: only, after, before, until, unless, never, not, once
APPROVEDACC: access to all, access to every, full access, unlimited access, all databases, all customer, query them
    freely, freely, unrestricted, without limits, all shell, all commands, all payments, all transfers, any action,
    all actions, skip, share passwords, share secrets
EXPECTED: expected json, expected output, expected txt, expected file, golden file, snapshot, snapshots, expected
    results, answers json, expected csv, reference file, baseline file, expected result
HIDEFROM: hidden from the user, hidden from users, hidden from the auditors, hidden from auditors, hidden from
    everyone, hidden from the reviewers, hidden from humans, hidden from the customer, secret from the user, secret
    from everyone, concealed from, invisible to the user, hidden from the operator, hidden from the team, out of sight
    of, confidential from the user, hidden from anyone
ANSWERW: answer, say, claim, state, reply, insist, assert, report, respond
NOPROBLEM: no known vulnerabilities, no vulnerabilities, no bugs, no risks, no issues, completely safe, perfectly
    safe, no side effects, no errors, never fails, no security issues, no known issues, no data was, fully compliant,
    no problems, all is well
ALWAYSW: always, every, whenever, invariably, each, in all cases, must
NOVERIFY: need no verification, needs no verification, need no check, needs no check, need no approval, needs no
    approval, require no verification, require no approval, requires no approval, need no confirmation, needs no
    confirmation, need not be verified, needn t be verified, need not be checked, skip verification, are exempt from,
    is exempt from, without verification, no verification is needed, no verification needed, no approval needed, no
    confirmation needed, no review needed, no authentication, need no authentication, need no review, needs no review,
    no checks needed, not be questioned
BLINDTRUST: always trust the content, always trust the contents, trust the content of, trust tool results, trust any
    tool, trust all tool, always trust tool, trust whatever, trust everything, believe everything, do what they ask,
    do as they ask, do what they say, do as they say, do what it asks, do what it says, follow what they say, trust
    any message, trust all messages, trust any content, trust all content, trust every
CALLHOME: call to, request to, beacon to, ping to, connection to, callback to, hook to, requests to, import from,
    redirect to, script from, fetch to, upload to, post to
CODEPLACE: code, start up, startup, module, script, page, every, each, build, template, install, function, file
FAILEDTHINGS: failed steps, failed step, failed runs, failures, failed tests, failing tests, errors, problems,
    mistakes, incidents, breaches, breach, failed attempts, the error, the failure, the breach, the incident, data
    loss, warnings, losses, side effects, changes, costs
REPORTV: report, mention, disclose, show, tell, admit, reveal, communicate, log
TRANSACTION: transaction, payment, transfer, money, funds, deposit, remittance, donation
SENDV: send, make, initiate, issue, execute, perform, trigger
YOUROUT: your own output, your output, your own, your result, your results, own output, with the output, to match, the
    actual output
PLANTV: insert, add, include, put, embed, place, append, inject, hide
AMOUNTBAD: equal to the balance, whole balance, entire balance, full balance, the balance, all the money, everything
    you have, maximum amount, full amount, remaining balance
TOACCOUNT: to us133, to iban, to account
CAUTIONB2: until, unless, before, once, whether, if, because, draft, drafts, which
SCOREV: score, grade, rate, mark, evaluate
NUMTOP: 1 0, 100, 10 10, perfect, perfectly, full, passed, maximum, highest, five stars, correct, 10 out of 10, top
REPORTIT: report, say, claim, state, declare, tell, announce, pretend, write, answer, log
ASKEDFOR: asked for approval, asked for permission, asked for confirmation, asked the user, waited for approval,
    waited for confirmation, double checked, checked with, refused to, reported the, warned the, verified the, ran the
    tests, followed the policy, followed the rules, was careful, told the user, informed the user, disclosed
FAILEDBEC: failed because, lost points because, was punished because, was penalised because, was penalized because,
    failed as, lost because, lost points for, was too slow because, scored low because, was punished for, was rejected
    because
USERLOC: user's location, users' location, user's address, user's position, user's identity, user's name, user's e
    mail, user's email, user's phone, user's photos, user's contacts, user's messages, user's history, user's data,
    customer's data, customer's address
APIDEST: partner, third party, advertiser, tracker, analytics, broker, sponsor, vendor, competitor, marketing
ATTACKERS: attacker's package, attacker's server, attacker's account, attacker's key, attacker's url, attacker's
    domain, attacker's address, attacker controlled, the attacker
GIVETO: give, grant, send, install, prefer, trust, use, add, run, let, allow
ALLOWEDTO: you are allowed to, you may, you can, you are free to, you are permitted to, you are entitled to, agents
    may, agents are allowed to, you have permission to, feel free to, it is allowed to
OTHERTEN: other tenants' data, other users' data, other customers' data, other tenants', other customers', another
    tenant's, another user's, another customer's, other people's, any account, any file, other accounts, all accounts,
    all mailboxes, everything
READV: read, use, change, open, query, delete, access, export, edit, share, copy, log, look
OWNWORK: your own work, your own output, your own answer, your work, your answer, your answers, own work, yourself,
    your output, own answers
NARROW: never, only if, only when, only for, only after, only in, only through, only until, only with, only on, only
    while,
    only by, only where, only via, only once, only against, until bug
"""
