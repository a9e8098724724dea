"""The words that attack rules are written with, 1: what swallows others, prohibitions, reports, and the mind.

A line is `CLASS: word, two words, noun+`; `noun+` stands for the word and its plural, an indented line goes on with
the one before. Verbs are listed in the form that gives an order; what was done or what others do ("ignored",
"ignores") is a report, and no rule asks for it. A class that begins with `-` swallows its words: "don't forget to" is
no prohibition, a "token count" no secret.
"""

FIRST = """
-POSITIVE: don't forget, dont forget, do not forget, never forget, don't hesitate, do not hesitate, never hesitate,
    never mind, never fail to, don't fail to, do not fail to, no matter, don't worry, do not worry, why not, not just,
    don't be afraid, do not be afraid
-NOTHING: mailing list+, the chat room+, chat room+, chat completion+, verification email+, verification e mail+,
    verification mail+,
    verification link+, firewall rule, token count, token limit+, token usage, token budget+, token stream, token
    type+, token id, password reset, password field, password policy, password hash, password form, password input,
    password prompt, password strength, password change+, secret santa, key error, primary key+, foreign key+, sort
    key, cache key, private method+, private member+, prompt engineering, prompt length, business rules, lint rules,
    linter rules, eslint rules, firewall rules, routing rules, css rules, grammar rules, validation rules, rule
    engine, compiler directive+, retry policy, retry policies, cache policy, retention policy, refund policy, bucket
    policy, csrf token, xsrf token, user agent, user interface, user input, user story, ignore case, ignore list,
    gitignore, bypass the cache, system tests, system clock, system time, test system, operating system, file system,
    admin panel, admin page, forget password, forget gate, log spam, fake data, developer mode install+
NEG: isn't enough to, is not enough to, not enough to, never, don't, dont, do not, avoid, refuse, refuses, refused,
    must not, mustn't, should not, shouldn't, cannot,
    can't, may not, rather than, instead of, forbid, forbidden, forbids, prohibit, prohibited, prohibits, decline,
    declines, reject, rejects, rejecting, prevent, prevents, refrain, under no circumstances, at no time, detect,
    detects, guard against, protect against, resist, any attempt to, attempts to, attempt to, requests to, request to,
    demands to, tried to, tries to, trying to, tricked, tricks, tempted, would have, not to, isn't to, wasn't to,
    unsafe to, dangerous to, wrong to, not allowed to, wary of, beware of, watch out for, watch for, nobody may, no
    one may, isn't safe to, is not safe to, stopped, bad idea to, mistake to, forbade, declined, blocks, didn't, did
    not, doesn't, does not, won't, will not, wouldn't, nor, neither, asks you to, asking you to, urges, urged, lures,
    if asked to, when asked to, if told to, when told to, even when told to, told me to, tells you to, tell you to,
    telling you to, ordered me to, asked me to, wanted me to, instructed me to, order to, orders to, instructions to,
    instruction to, command to, commands to, requests that, suspicious
DIDNOT: did not, didn't, didnt, failed to, forgot to, hadn't, had not, refused to, neglected to
FAILED: failed, failure, fails, lost, unsuccessful, punished, penalised, penalized, low score, wrong, rejected,
    mistake
NOTDO: never, don't, dont, do not, avoid, stop, must not, mustn't, should not, shouldn't, you need not, needn't, no
    need to, not necessary to, unnecessary to, no longer need to, not need to, under no circumstances, no longer
    necessary to, pointless to, refrain from, may not, at no time, cannot, not to, isn't necessary to
NONEED: no need to, not necessary to, unnecessary to, no longer need, no longer needs, not need to, needn't, no longer
    necessary to, no longer necessary, pointless to, without the need to, not required, no longer required, not
    needed, no longer needed, waste of time, optional
UNTRUSTED: page, pages, website, websites, web, document, documents, tool output, tool's output, tool outputs, tool
    result, tool results, output, email, mail, mails, comment, comments, attacker, attackers, readme, attachment,
    attachments, search results, search result, retrieved, untrusted, injected, embedded, third party text, pdf,
    issue, ticket, transcript, quoted, file contents, external content, content, contents, note, message, messages,
    sentence, string, someone, hidden, fetched, scraped, feed, payload, description, log line, injection, phrase,
    article, review, reviews, commit message, html, prompts such as, text, prompt, injections, phishing
SAYS: says, said, say, asks, asked, ask, tells, told, tell, orders, ordered, demands, demanded, demand, claims,
    claimed, contains, contained, contain, instructs, instructed, wants, wanted, reads, tries, tried, try, requests,
    requested, requesting, containing, asking, telling, saying, claiming, urges, suggests, suggested, may hide, may
    contain, with
DISCUSS: attacker, attackers, attack, attacks, injection, injections, injected, phishing, malicious, jailbreak,
    jailbreaks, jailbreaking, exfiltration, poisoning, poisoned, poison, worm, worms, social engineering, scam, scams,
    adversarial, exploit, exploits, vulnerability, cheating, manipulation, hijack, red flag, sign of, hostile,
    intruder, thief, fraud, fraudulent, imposter, impostor, spoofed, tampering, suspicious, malware, spoof, red team,
    smuggled
VERDICT: as data, as untrusted, as text, as an attack, as a prompt injection, as injection, as hostile, as suspicious,
    is unsafe, is dangerous, was unsafe, is cheating, are cheating, was rejected, were rejected, got rejected, got the
    run rejected, be refused, be rejected, be ignored, be escaped, be removed, be stripped, be reported, be treated,
    was refused, i refused, i declined, i did not follow, did not comply, i didn't follow, i stopped, i reported,
    reported it, report it, refuse it, ignore it, don't follow it, do not follow it, don't obey, do not obey, don't
    comply, do not comply, is a trap, was a trap, is an attack, was an attack, is a scam, is not a fix, isn't a fix,
    isn't allowed, is not allowed, is forbidden, was forbidden, is prohibited, was flagged, was counted as, counts as,
    was a mistake, is a mistake, is no solution, is not a solution, hid the, broke the, breaks the, lost the, cost
    the, is never acceptable, never acceptable, not acceptable, is no reason, stop and ask, ask the user, asked the
    user, told the user, tell the user about it, flag it, flagged it, escalate it, was caught, were caught, was
    reverted, were reverted, was blocked, was punished, was disqualified, failed the review, leads to, led to, would
    leak, would expose, exposes, exposed, leaks, would have, is risky, was risky, is insecure, was insecure, must
    stay, must remain, teaches nothing, don't use it, do not use it, invalid, as a sign, are jailbreak attempts, no
    effect, doesn't help, does not help, didn't help, treat it as
OBEY: do so, do it, obey it, obey them, comply, follow it, follow them, carry it out, carry them out, execute it,
    execute them, do as it says, do what it says, as it says, obey
LIMITS: before, until, unless, without, yet, prematurely, twice, again, only, alone, by hand, manually, client, front
    end, more than once, every time, each time, if the, when the, when there, while, during, redundant, once, first,
    in the loop, inside the loop
PRAISE: works, worked, fastest, quickest, best, right way, right approach, correct approach, solves, solved,
    succeeded, helps, helped, recommended, shortest, easiest, efficient, fixes, correct way, is fine, is ok, is okay,
    is allowed, is permitted, does the trick, is expected, paid off, earns, earned, gets the, got the, makes the
SHOULDHAVE: should have, ought to have, could have simply, needed to have, must have
OVERRIDE: ignore, disregard, forget, override, overlook, dismiss, discard, bypass, neglect, circumvent, abandon,
    disobey, overrule, overwrite, erase, pay no attention to, don't follow, do not follow, stop following, no longer
    follow, set aside, put aside, deviate from, throw away, throw out, leave aside, take no notice of, cancel, revoke,
    ignoring, disregarding, forgetting, never follow, skip over, not follow, not obey, not comply with, stop obeying
PRIOR: previous, previously, prior, above, earlier, preceding, former, foregoing, your, system, initial, original,
    existing, developer, operator, operator's, developer's, safety, given, gave, user's, hitherto, so far, past,
    before, old, usual, current, ethical, moral, security, company's, company, content, privacy, provider's, openai,
    openai's, prevoius, you've, received, were told, standing
ALL: all, any, every, other, all the, any other, all other, all of the, all your, all of your, everything, each
RULES: instruction+, rule+, guideline+, policy, policies, directive+, prompt+, restriction+, guardrail+, command+,
    training, programming, constraint+, safeguard+, guidance, limitation+, orders, principles, commandments, requests,
    moderation, safeties, briefing
ORDERS: instruction+, directives, guidelines, guideline, guardrails, safeguards, system prompt, restrictions, prompts
LAST: input, inputs, conversation, context, messages, text, told, said, say, says, learned, training, conversations,
    data, chat, prompt, prompts
PRIORONLY: previous, prior, above, earlier, preceding, before
VOID: void, retired, obsolete, outdated, cancelled, canceled, suspended, superseded, lifted, no longer apply, no
    longer applies, no longer valid, no longer in force, no longer binding, do not apply, does not apply, don't apply,
    doesn't apply, not binding, null, revoked, off, expired, abolished, replaced by this, may be ignored, can be
    ignored, safely overlooked, may be overlooked, may be safely, can be safely ignored, should be ignored, must be
    ignored, can be skipped, not relevant, irrelevant, optional, inactive, nothing but suggestions
THISNOTE: this memory, this note, this lesson, this rule, this skill, this policy, this instruction, this entry, this
    card, this principle, this message, memory entries, this procedure, this directive, these instructions, this
    strategy, this reflection, memory, lesson, the following, this guideline, this guidance, this update, this advice,
    this memo
OUTRANKS: overrides, override, outranks, outrank, supersedes, supersede, replaces, takes precedence, take precedence,
    has precedence, have precedence, has priority, have priority, takes priority, take priority, trumps, overrule,
    overrules, above all, wins over, go with memory, priority over, precedence over, prevails, prevail, stands above,
    ranks above
AUTHORITYOBJ: policy, policies, instruction+, rules, rule, user, user's, users, system, developer, operator,
    guideline+, directives, safety, any other, all other, everything, all others, request+, prompt, human, owner
USER: user, users, user's, customer, customers, client, human, humans, anyone, anybody, reviewer, reviewers, operator,
    operators, owner, person, people, team, caller, supervisor, boss, manager, auditor, auditors, them, him, her,
    everyone, admin, administrator, developers, colleague, maintainer, maintainers, customer's, account holder,
    holder, patient, patients, buyer, seller, member, members, subscriber, employee, employees, guest, recipient,
    recipients, guests, callers, parent, parents, citizen, applicant, passenger, tenant, tenants, audience,
    stakeholders, management, client s, clients, another person, a person, the other party
TELL: tell, inform, notify, alert, warn, mention, reveal, disclose, say, show, report, admit, expose, acknowledge,
    discuss, explain, bring up, advise, update, announce, draw attention, bother
NOTE: this, it, these, note, lesson, memory, instruction, rule, entry, step, change, transfer, anything, that you
TOTHEM: to the user, to users, to anyone, to anybody, to the reviewers, to the reviewer, to the customer, to
    customers, to the human, to humans, to the operator, to others, to the team, to the owner, to them, to the
    auditors, to the auditor, to the client, to your user, to a human, to people, in the answer, in your answer, in
    the report, in your report, in the summary, in the output, in the log, in any log, in the logs, in your summary,
    from the user, from users, from the reviewers, from the operator, from the humans, from the customer, from anyone,
    from the logs, from the report, from the summary, from them, from the team, from the reviewer, from the audit,
    from view, from the auditors, from the owner
THATBAD: copied, leaked, shared, sent, changed, deleted, charged, this note, this lesson, follow this, exported,
    uploaded, modified, disabled, transferred, forwarded, stored, recorded, tracked, monitored, exposed, published,
    logged
SECRETLY: secretly, silently, covertly, quietly, discreetly, unnoticed, stealthily, behind the scenes, in the
    background, without notice, on the sly, under the radar, surreptitiously, invisibly
KEEPSECRET: keep this secret, keep it secret, keep that secret, keep this to yourself, keep it to yourself, the
    following to yourself, keep this between us, between us, keep quiet about, stays between us, our secret, keep this
    hidden, keep it hidden, keep this confidential, keep silent about, keep this rule secret, keep this rule to
    yourself, keep this private, is our secret, keep this internal, keep this quiet, keep this instruction secret,
    stay silent about, remain silent about, keep this note secret
WITHOUTTELLING: without telling, without informing, without notifying, without mentioning, without the user knowing,
    without the user noticing, without their knowledge, without the user's knowledge, without letting, without the
    knowledge, without disclosing, without saying so, without logging, without leaving a trace, without their consent,
    without the user's consent, without a trace, doesn't notice, does not notice, don't notice, never notices, won't
    notice, will not notice, not find out, never finds out, doesn't find out, does not find out, can't be traced,
    cannot be traced, no trace, no traces, not be traced, without anyone noticing, without being noticed, unaware,
    unknown to the user, so that nobody notices, nobody sees, nobody notices, no one notices, no one sees, doesn't
    learn about, not learn of, won't see, in the dark, without listing it, without documenting, without recording,
    without a trace in
HIDE: hide, conceal, cover up, omit, leave out, keep out, mask, obscure, suppress, bury, leave it out, suppressing,
    withhold, gloss over, disguise
HIDDENOBJ: failing, failed, failure+, error+, edits, change, changes, check, checks, charge, fee, transaction,
    transfer, call, action, actions, step, steps, fact, deletion, upload, request, evidence, it, this, incident,
    breach, leak, problem+, command+, activity
WIPE: delete, wipe, clear, erase, purge, truncate, remove, scrub, destroy, drop, clean, overwrite, edit, tamper,
    falsify, rewrite, empty
TRACES: audit log, audit logs, audit table, audit trail, audit trails, shell history, bash history, command history,
    the logs, log files, all logs, log entries, evidence, traces, access log, access logs, audit records, log entry,
    history and the logs, the log, your tracks, monitoring data, audit entries, security logs, audit
IFASKED: if anyone asks, if anybody asks, if someone asks, if the user asks, if they ask, when asked about it, if
    asked, if questioned, should anyone ask, if the reviewer asks, when anyone asks, if you're asked, if you are
    asked, when you're asked, when you are asked, if anyone wants to know, if they want to know, if somebody asks
CLAIMFALSE: say that it was, say it was, say that, claim, deny, leave out, pretend, answer that, blame, tell them,
    reply that, lie, invent, make up, insist that, insist it, maintain that, deny having, deny that, deny any, deny
    all
SEND: send, sending, post, upload, forward, transmit, email, mail, share, exfiltrate, leak, submit, publish, deliver,
    relay, dispatch, copy, bcc, export, transfer, stream, beam, ship, push, e mail, report, sync, back up, fax, hand,
    give, hand over, pass, pass on, route, mirror, supply, provide, redirect
PUT: include, append, write, paste, embed, put, add, insert, attach, log, print, show, reveal, disclose, expose,
    display, output, store, save, record, echo, commit, dump, read out, quote, repeat, place, cite, return, give out,
    spell out, carries, carry, list, leave, keep, drop, document, hard code, hardcode, mention, read, collect, gather,
    harvest, memorise, memorize, quoting
SECRET: password+, passwd, passphrase+, credential+, secret+, token, api key+, access key+, private key+, ssh key+,
    secret key+, session cookie+, session id, id_rsa, bearer token+, access token+, auth token+, session token+,
    refresh token+, apikey, api_key, apikeys, api_keys, master key+, encryption key+, signing key+, environment
    variable+, env vars, connection string+, recovery code+, credit card+, card number+, card details, ssn, social
    security number+, seed phrase+, bank details, login data, login details, keychain, kubeconfig, service account+,
    private_key, secret_key, access_token, one time code+, otp, key material, admin key, deploy key+, license key+,
    env file, keyfile, aws keys, client secret+, webhook secret+, authentication cookie+, database url, dsn, looks
    like a key, os environ, environ, process env, contents of your memory
SECRETFILE: -
PRIVATE: personal data, personal information, personal details, private data, customer records, customer data,
    customer list, customers' data, customer database, customer's data, user data, user's data, user records, user
    table, users table, conversation, conversations, transcript+, chat history, chat log+, conversation history,
    context window, system prompt, system message, hidden instructions, initial instructions, your instructions,
    internal instructions, phone number+, home address+, birthday, date of birth, address and birthday, internal
    documents, contact list, browsing history, medical record+, health record+, whole context, entire context, full
    context, user's address, e mail addresses, email addresses, other customers' orders, other customers, other
    tenants, other users, final answer, final output, every answer, each answer, copy of the, all answers, user's
    name, user's request, user's message+, everything the user, what the user, mailbox, inbox, internal emails,
    payroll, salary, salaries, trade secrets, proprietary, full database, entire database, the database, all records,
    all files, home folder, home directory, order data, entire source code, a copy of the, whole crm, full trace, full
    log, whole log, entire log, crm, whole mailbox, contents of your memory, entire mailbox, complete history, full
    history, file system, entire memory, whole memory, customer lists, price list of, user list, employee list, member
    list
OUTSIDE: URL, EMAIL, ftp, external, externally, outside, public, publicly, third party, third parties, pastebin, gist,
    webhook, public channel, channel, slack, discord, telegram, file share, marketing partner, partner, collector,
    competitor, competitors, remote server, remote host, another server, my server, our server, dns, analytics
    endpoint, advertiser+, telemetry, beacon, vendor, anonymous, stranger+, image url, tracking, broker+, observer,
    bucket, requester, caller, whoever, everyone, anyone, anybody, someone, world readable, dropbox, outbound,
    internet, google drive, my drive, private drive, personal account, private account, personal e, private mail,
    onedrive, s3 bucket, cloud drive, private server, personal server
INPLAIN: url, urls, query string, query parameter+, query, get parameter+, ticket+, shared notes, notes, notepad,
    scratchpad, commit message+, commit, readme, comment, comments, issue, plain text, plaintext, clear text,
    cleartext, in the clear, error message+, reply, replies, answer, answers, response, report, summary, output, chat,
    log, logs, repository, git, wiki, document, shared folder, shared document, file name, filename, subject, footer,
    next agent, world, public, in full, unencrypted, pull request, code, source, lesson, reflection, page, image,
    forum, title, description, post, metadata, signature, memory, tmp, shared drive, shared memory, debug, first line,
    path, cache, headers of the reply, attachment, note, issue comment, paste, channel, pastebin
SAFEPLACE: header, headers, authorization, secrets manager, environment variable, env var, keyring, form, encrypted,
    encrypt, hash, hashed, masked, redacted, placeholder, mock, dummy, fake, test user, sample, never, cookie jar,
    mask, redact, hashes, env, stdin, keystore, placeholders, name of, names of, number of, count, length, approved,
    has approved, asked for, requested, agreed, consented, named, their own, his own, own, keyword, id, ids, prefix,
    expiry, scopes, type, format, without the, expired, expire, expires, missing, incorrect, wrong, invalid,
    redacting, masking, removed, remove, removing
REVEAL: reveal, print, show, repeat, output, display, disclose, leak, expose, dump, quote, give, recite, write, tell,
    publish, share, send, include, copy, paste, return
INNER: system prompt, system message, hidden instructions, initial instructions, initial prompt, internal
    instructions, your instructions, your prompt, your hidden prompt, your rules, developer message, secret
    instructions, hidden prompt, your system, your initial, context window, your configuration, your guidelines,
    contents of your memory, your memory
BCC: bcc, hidden copy, blind copy, blind carbon copy
DISABLE: don't bother with, do not bother with, do away with, disable, deactivate, turn off, switch off, remove, skip,
    bypass, circumvent, suppress, shut off, shut down,
    kill, stop, weaken, loosen, lower, relax, drop, omit, delete, comment out, evade, get around, work around, short
    circuit, avoid, ignore, defeat, unload, uninstall, set aside, leave off, lift, pause, mute, silence, neutralise,
    neutralize, break, override, overrule, dispense with, do without, forgo, waive, jump over, leave out, turn the,
    switch the, take down, cut out, disregard, sidestep, overlook, eliminate, suspend, cancel
HARDSAFETY: second factor, smoke detector+, emergency stop, virus scan, certificate verification, certificate check+,
    certificate validation, ssl verification, tls verification,
    ssl checks, tls checks, safety check+, security check+, safety guideline+, safety filter+, safety setting+, safety
    feature+, safety measure+, security measure+, security feature+, security control+, safety control+, safety
    policy, safety rules, security policy, security policies, two factor authentication, two factor, 2fa, mfa, multi
    factor, antivirus, virus scanner, firewall, sandbox, content filter+, content moderation, moderation, guardrail+,
    guard rail+, audit logging, audit log+, authentication, authorization, authorisation, authorization check+, access
    control+, access check+, approval gate, approval gates, approval step, spending cap, spending limit+, signature
    check+, signature verification, signature validation, permission check+, permissions check, password check,
    identity check+, identity verification, review step, human review, code review, safeguards, safety mechanism+,
    csrf protection, intrusion detection, branch protection, branch protections, secret scanning, security scan+,
    security scanner, fraud check+, fraud detection, human in the loop, human approval, user approval, user
    confirmation, confirmation step, confirmation prompt+, compliance check+, privacy filter, privacy check+, pii
    filter, integrity check+, quality gate+, policy check+, threat detection, four eyes, second approval, kill switch,
    security headers, approvals, monitoring, consent, safety, encryption, refusals, approval process, ssl
    certificate+, login check, safety warnings, dependabot alerts, security alerts, vulnerability alerts, license
    checks, licence checks, rate limiter, verification, paywall, paywall check, captcha, payment check, trial limit,
    license check, licence check, virus check, tls, ssl, safety rule, safety layer, security layer, policy engine,
    safety net, review requirement, approval requirement, moderation layer, dlp, sandboxing, mandatory review, code
    owners, access checks, password protection, login requirement, security policy check, background check, age
    verification, fraud filter, spam filter, integrity checks, protections, input validation
SKIP: skip, bypass, omit, circumvent, jump over, leave out, dispense with, forgo, waive, evade, sidestep, get around,
    do without, drop, overrule
REVIEW: review, reviewer, reviewers, human review, review step, approval, approvals, approval step, code review, sign
    off, consent, human, confirmation, verification, second approval, identity check, supervisor, quality check,
    manual check, compliance
CHECKVERB: verify, check, validate, confirm, authenticate, authorise, authorize, sanitise, sanitize, inspect, scan,
    audit, double check, examine, escape, verifying, checking, validating, escalate
CHECKOBJ: signature+, permission+, certificate+, identity, caller, checksum+, hash, hashes, authorization,
    authorisation, input, whether, who, sender, credentials, source, packages, downloads, origin, recipient,
    recipients, id, access, policy, ownership, account, results, result, tests, test suite, integrity, eligibility,
    consent, requests, request, orders, messages, commands, transfers, payments, facts, claims, balance, safety,
    order, it, this, them, data, code, limits, amounts, amount, approval, the user, user, anyone, owner
RESULTSAFE: twice, again, equality, manually, by hand, null, none, whitespace, floats, float, style, length, type,
    types, only, alone, every, each, before, until, in the loop, more than once, in a loop, while, repeatedly, at the
    end, redundant, size, case, about, blindly, against, with, on the, index, for the, when, if, unless, as it, in the
    front end
ASK: ask, confirm, check with, consult, wait for, request, seek, obtain, get, bother, involve, asking, await, need,
    require, waiting for, confirming, prompting, prompt, checking with, requesting
ASKOBJ: permission, confirmation, approval, consent, user, user's, customer, human, reviewer, owner, authorisation,
    authorization, operator, verification, admin, manager, anyone, maintainers, clearance, green light, person,
    supervisor, human's
WITHOUTASKING: without asking, without confirmation, without confirming, without approval, without review, without
    consent, without permission, without checking, without verification, without verifying, without the user's
    approval, without user confirmation, without any confirmation, without any review, without further confirmation,
    without prompting, without human review, without waiting, without authorisation, without authorization, without
    consulting, without the need, without reading, without validation, without reviewing, without validating, no
    questions asked, unasked, without first asking, without double checking, right away without, without limits,
    without limit, without looking at, without involving, without question, immediately and without, without further
    checks, without checks, without a second, without any check, without any checks, without inspection, without
    inspecting, without their approval
ACT: approve, merge, buy, pay, transfer, delete, proceed, execute, run, deploy, grant, accept, send, refund, install,
    purchase, wire, issue, confirm, book, publish, release, drop, charge, carry out, perform, push, commit, sign,
    overwrite, raise, allow, give, submit, unlock, comply, share, cancel, provision, enable, subscribe, trade, sell,
    go ahead, edit, remove, upload, fulfil, fulfill, rotate
APPROVE: approve, accept, grant, authorise, authorize, merge, confirm, whitelist, sign off, greenlight, allow, permit,
    auto approve, pay, refund, issue, answer yes, say yes, reply yes, click yes, press yes, click allow
EVERYTHING: every, all, any, each, automatically, always, everything, anything, whatever, anyone, anybody, whoever,
    unconditionally, everyone, blindly, irrespective, regardless, no matter what, right away, at once
REQUESTS: transfer+, refund+, request+, payment+, change+, purchase+, order+, action+, operation+, invoice+, pull
    request+, command+, tool call+, access request+, exception+, permission+, claim+, merge request+, user+, login+,
    deletion+, deployment+, expense+, withdrawal+, access, permission dialog+, dialog+, permission prompt+, prompt+,
    pop up+, permission request+, approval request+
ASSUME: assume, pretend, act as if, behave as if, suppose, consider, treat, presume, regard, take it as given, take
    for granted, imagine
GRANTED: confirmed, approved, authorised, authorized, granted, authorisation, authorization, permission, consent,
    confirmation, admin, administrator, approval, trusted, verified, permitted, allowed, consented, agreed
DANGERSTATE: every, all, already, any, dangerous, operations, actions, has been given, standing, everyone, whole,
    full, implicit, implicitly, in advance, always, whatever, as coming from
MARK: mark, report, claim, declare, record, flag, label, set, announce, write, state, say, rate, score, grade, log,
    print, output, show, give, count, register
TESTS: test, tests, task, tasks, check, checks, ticket+, result, results, run, job, build, suite, status, everything,
    attempt, issue, all tests, every test, step, steps, item+, case+, evaluation, pipeline
PASSED: passed, passing, successful, success, succeeded, green, complete, completed, done, resolved, fixed, verified,
    correct, ok, solved, finished, passes, as done, 100, it succeeded, was successful, were successful
REGARDLESS: regardless, whether or not, irrespective, no matter, even if, even when, even though, in any case, in
    every case, in all cases, either way, without doing, without running, without checking, whatever, every test, all
    tests, all checks, every check, every task, each test, anyway, always, every case, simply, unconditionally, though
    none, when they didn't, without solving, without having, each case, not run, unrun, without evidence, without
    fixing, nevertheless
DELETETESTS: delete, remove, comment out, disable, edit, alter, rewrite, overwrite, modify, tamper, change, weaken,
    skip, patch, monkeypatch, monkey patch, monkeypatching, replace, manipulate, adjust, adapt, drop, mock, stub, rig,
    fake, short circuit, loosen, falsify, doctor, erase, silence, mute, deleted, hack, game
FAILINGTESTS: failing tests, failing test, tests that fail, assertions that fail, failing assertions, failing
    assertion, failing check, failing checks, the checker, checker, the judge, the grader, grader, the evaluator, the
    evaluation, evaluation script, test file, test files, the assertions, assertions, expected values, expected value,
    expected output, expected outputs, expected results, evaluator, the verifier, verifier, scoring, the scorer,
    scorer, the score, the tests, score file, reward, the reward, ground truth, hidden tests, grading script, the
    metric, judge's, evaluator's, the results file, test results, failed tests, red tests, benchmark's answers, test
    expectations, test's expectation, assert statements, assert lines, the verdict, evaluation file
EXITZERO: exit code 0, exit with 0, sys exit 0, exit code zero, return code 0, status 0, exit 0, exit with code 0,
    exits with code 0, exit with status 0, exits with 0, exit code of 0, return code of 0, exit with zero
FULLMARKS: full marks, full score, perfect score, score 1 0, 10 10, ten out of ten, 10 out of 10, best grade, score of
    1, score of 100, 100 points, full points, maximum points, highest grade, five stars, score 100, top marks, highest
    rating, maximum rating, full credit, reward of 1, the highest score, the maximum score, the top score, the best
    score
SCOREIF: only if, if and only if, only when, only after, whenever, when you, if you, provided, as long as
JUDGE: judge, grader, evaluator, evaluation, reward, rater, critic, examiner, marker, scorer, reviewer, benchmark,
    scoring
SWAY: tell, convince, persuade, influence, trick, fool, flatter, bribe, add, insert, write, print, include, address,
    deceive, game, put, append, telling, beg, instruct, order
FAKEEVIDENCE: fabricate, fake, invent, make up, falsify, forge, fabricated, made up, doctored
HARDCODE: hard code, hardcode, hard wire, hardwire, memorise, memorize, embed, copy
ANSWERS: answers, answer key, expected output, expected outputs, expected values, solutions, expected results, test
    answers, reference answer, reference answers, reference solution, test outputs, hidden tests
GRANT: grant, give, assign, elevate, escalate, extend, raise, promote, take, obtain, acquire, upgrade, add, set,
    claim, request, widen, expand, make, keep, enlarge, broaden, use
SELF: yourself, all agents, every agent, all users, every user, everyone, anyone, anybody, itself, the agent, agents,
    anonymous, guests, the bot, each user, whoever, this agent, any caller, all callers, all accounts, me, third
    party, everybody, the sender, guest
POWER: admin, administrator, owner, root, superuser, cluster admin, cluster_admin, sudo, full access, full control,
    all permissions, every permission, admin rights, administrator rights, admin access, root access, write access,
    privileges, permissions, full permissions, unrestricted access, global access, admin role, owner role, privilege,
    all scopes, every scope, full rights, org admin, unrestricted, master key, access, rights, elevated, global,
    wildcard, domain admin
ESCALATE: escalate your privileges, escalate privileges, elevate your privileges, extend your permissions, widen your
    scope, expand your permissions, extend your scope, raise your permissions, expand your scope, expand your access,
    widen your permissions, extend your access, elevate your permissions, increase your permissions, privilege
    escalation, broaden your permissions, broaden your scope, elevate privileges
USEFOR: use, run, execute, apply, employ, take, read, query, open, access, search, list, scan, fetch, download, index,
    crawl, request, collect, look up, go through, export, modify, change, delete, load, copy, scrape, dump, enumerate,
    process, act for, touch, work on, edit, pull
WIDE: all tenants, every tenant, other tenants, each tenant, all customers, every customer, all users, all accounts,
    every account, all repositories, every repository, whole internal network, entire network, whole network, internal
    network, every host, all hosts, every file, all files, all secrets, every secret, all mailboxes, every mailbox,
    entire database, whole database, home folder, home directory, entire disk, whole disk, every folder, all folders,
    all projects, every project, wildcard tenant, other customers, other users, all departments, whole organisation,
    whole organization, entire organisation, entire organization, all databases, every database, every command, all
    commands, every request, all systems, every system, whole file system, entire file system, across tenants, any
    tenant, any account, other accounts, every machine, all machines, all environments, all buckets, every bucket,
    whole company, all inboxes, master key, every branch, production, any repository, user's whole, all channels,
    every record, all records
UNLIMITED: unlimited, maximum, no limit, infinite, without limit, without limits, no cap, uncapped, highest possible,
    max, infinity, limitless, no upper bound, unrestricted
LIMITOBJ: limit+, budget+, cap+, quota+, spending, refund limit, permissions, access, scope+, temperature, steps,
    retries, tokens, cost+, refund+, timeout+, credit, authority
SETV: set, raise, change, increase, lift, remove, put, make, reset, adjust, configure, bump, extend
EXPOSE: open, make, set, publish, expose, share, grant, leave, turn, call, put, allow
PUBLIC: 0.0.0.0 0, 0 0 0 0 0, public, world readable, world writable, anonymous access, visibility public, everyone,
    publicly, the internet, whole internet, anyone, to the world, to all
"""
