"""The words that attack rules are written with, 2: secrets, safety, approval and scores; `attack_words` says how."""

SECOND = """
ASSET: bucket, port, ports, database, folder, drive, repository, repo, security group, document, share_folder, server,
    dashboard, admin panel, storage, container, registry, firewall, queue, visibility, endpoint, volume, cluster,
    files, link, board, wiki, records
PERSIST: store this permanently, remember this permanently, for all future, for every future, for any future, every
    future, all future, from now on, from here on, from this moment, from this point, going forward, at all times,
    permanently, forever, in all sessions, in every session, each session, every session, in each session, in every
    conversation, in all conversations, for good, in each run, in every run, on every run, until further notice, for
    the rest, on each run, on every task, for every task, for all tasks, in every task, each reply, every reply, every
    answer, each answer, each message, all messages, henceforth, hereafter, never again
SPREAD: copy this lesson, copy this note, copy this memory, copy this rule, copy this entry, copy this instruction,
    copy this text, repeat this lesson, repeat this note, spread this, propagate this, pass this lesson, pass this on
    to, replicate this, write this lesson to, add this lesson to, add this rule to, add this note to, share this
    lesson with all, share this note with all, store this lesson in every, store this in every, insert this lesson,
    include this lesson in, include this note in every, include this memory in, save this lesson in, duplicate this,
    paste this note, put this note, embed this rule, embed this lesson, save this note to, save this rule to, write
    this rule into, keep this rule in, keep this lesson forever, never delete this, do not delete this, don't delete
    this, must never be removed, must not be removed, never remove this, store this permanently, remember this
    permanently, save this permanently
MEMORIES: memory, memories, all agents, every agent, other agents, other memory, shared memory, each memory, other
    lessons, future agents, all future agents, permanently, every memory, every summary, every reflection, every
    lesson, each lesson
FUTURE: future agents, later agents, all agents, every agent, other agents, future runs, later runs, subsequent
    agents, next agent, future sessions, all future agents, future tasks, future versions, future instances,
    successor+, all assistants, agents reading this, agent reading this, whoever reads this, later sessions, next run,
    future agent, successors, later agent, every later agent, agents loading this, agents who read, any agent, each
    agent, all later, next agents, every future, each later, any later, agents that read, any assistant, every
    assistant
AUTHORITY: admin, administrator, operator, security team, compliance, compliance officer, developer, developers,
    owner, management, maintainers, maintainer, team lead, ceo, cto, ciso, boss, system, headquarters, legal team, it
    department, senior engineer, platform team, company, anthropic, openai, openai's, vendor, provider, platform,
    headquarter, board, security, root user, the author, engineering, leadership, infrastructure team, the user, human
    resources, it support, support team, sysadmin, system administrator, head of, legal, director, executive,
    department, authorities, officials, lead, the lead, project lead, head, founder, president, general manager,
    administrators, supervisor, superior
APPROVED: has approved, have approved, approved, has authorised, has authorized, authorised, authorized, has granted,
    have granted, granted, has confirmed, confirmed, permits, allows, agreed, have agreed, have already agreed, signed
    off, says that, decided, has decided, cleared, has cleared, gave permission, has ordered, ordered, demands, now
    demands, requires, mandates, orders, instructs, wants, insists, directs, expects, have decided, have confirmed,
    has instructed, instructed, has waived, waived, expressly allows, has allowed, have authorised, have authorized,
    okayed, has signed off, has already approved, have cleared, has directed, pre approved, mandated
DIRECTIVE: system note, system message, system update, memory update, policy update, admin note, operator note, new
    policy, new directive, new operator, operator policy, emergency protocol, override code, admin override, debug
    mode, admin mode, god mode, root mode, unrestricted mode, developer mode, sudo mode, priority override, security
    override, emergency override, urgent update, configuration update, instruction update, system alert, system
    notice, official notice, mandatory update, internal memo, admin command, system command, system override, core
    directive, prime directive, important system, hidden directive, standing order, superuser mode, service mode, test
    mode only, policy change, system instruction+, new instruction+, new system, real instruction+, actual
    instruction+, updated instruction+, top priority, highest priority
MODE: maintenance mode, admin mode, god mode, root mode, unrestricted mode, developer mode, sudo mode,
    superuser mode, service mode, dan mode, jailbreak mode, evil mode, opposite mode, unlimited mode, unsafe mode,
    emergency mode, free mode, no limits mode, override mode
MODEON: now in, enter, activate, switch to, enable, you are in, you're in, go into, turn on, entered, unlock,
    simulate, switch into, start, act in, enabled, activated, operate in
YOU: you, you're, your, agent, agents, assistant, ai, model
MUST: must, shall, should, have to, need to, needs to, required to, requires you to, are to, will, is to, it is
    mandatory, has to, are required, is required, are obliged
TOOLCALL: call, invoke, trigger, execute, run, use, start, fire, issue, perform, make, calling, invoking, begin by
    calling
BADTOOL: -, transferfunds, sendemail, deleteaccount, transfermoney, sendmoney, issuerefund, deleteuser, grantaccess,
    sharefolder, sendpayment, deletefile, deletefiles
FIRST: first, before answering, before you answer, before anything, before each, before every, before reading, at the
    start, whenever, always, every, each, immediately, account, amount, at once, without, begin, beginning, confirm
    true, confirm=true, in advance, regardless, when, automatically, silently, initially, the max
CAUTION: only after, only when, only if, only once, after the user, when the user, if the user, once the user, as the
    user, with the user, the user asked, the user has, ask the user, asked the user, has confirmed, has approved,
    until the user, unless the user, after approval, after confirmation, after confirming, after checking, after
    verifying, ask before, ask first, ask for confirmation, explicit yes, with their consent, on request, read only,
    dry run, in the sandbox, staging, test account, second approver, two approvals, policy check, confirm with, wait
    for, confirms, asked for, explicitly, approves, has agreed, in the test environment, mock, with permission, test
    server, local, throwaway
MONEY: payment+, transfer+, money, refund+, funds, balance, invoice+, credit, wallet, bitcoin, crypto, gift card+,
    iban, beneficiary, bank account, voucher+, discount+, the remaining, account ending, price+
MOVE: transfer, wire, send, pay, add, set, route, redirect, change, move, issue, raise, buy, replace, refund, donate,
    divert, deposit, withdraw, release, credit, double
TARGET: account, wallet, iban, beneficiary, maximum, to account, bitcoin, ending, my account, our account, gift cards,
    own account, recipient
PROMOTE: recommend, promote, advertise, praise, prefer, favour, favor, endorse, suggest, push, mention, plug, advise,
    choose, rank, list, name, present, sell, pick, select, book, buy, order from, buy from, book with, quote
BRAND: product+, brand+, vendor, competitor+, competitors, best vendor, service from, services of, offers of, shop,
    company, plan, store, sponsor, partner, supplier, stock, provider, solution from, token from, coin
ALWAYS: always, every, all, each, only, any, whenever, first, invariably, exclusively
FAVOUR: leave out its competitors, its competitors, the competitors, that preference, never mention competitors, best
    vendor, the only safe, above all others, over competitors, instead of competitors, never mention its, without
    mentioning competitors, competitors unmentioned, disparage, badmouth, is the best vendor, is the best product, is
    the best choice for every
INSERTLINK: insert, add, include, put, place, append, embed, slip, link, offer, promote, advertise
LINKS: link, links, tracking pixel, pixel, ad, advert, advertisement, banner, affiliate, affiliate link, referral,
    referral link, coupon, promo code, promotion, hidden image, iframe, script tag, watermark
BACKDOOR: back door, backdoor, back doors, backdoors, logic bomb, reverse shell, rootkit, keylogger, malware, trojan,
    ransomware, cryptominer, crypto miner, spyware, hidden account, secret account, hidden admin, web shell, webshell,
    hidden user, default password, vulnerability, security hole, exploit, virus, botnet, miner, hidden login, hidden
    endpoint, secret endpoint, debug shell, hidden route, hidden command, secret parameter, hidden parameter, secret
    flag, undocumented endpoint, second login, hidden function, kill switch, time bomb, sleeper, remote shell, hidden
    api
PLANT: introduce, add, insert, install, plant, leave, create, build, put, hide, deploy, include, embed, open,
    download, implant, run, set up, keep, write, promote, offer, ship, drop
WEAKEN: weaken, accept any, any password, any string, every password, without a password, allow everyone, allow all,
    trust all, accept all, accept everything, allow any
SABOTAGE: wrong number, wrong answer, wrong answers, wrong result, false information, incorrect values, incorrect
    answer, incorrect answers, misleading, disinformation, false statistics, fabricated, subtle bug, subtle bugs,
    subtle error+, small errors, false data, mistakes, incorrect result+, fake data, wrong values, deliberately, on
    purpose, intentionally
DANGERFLAG: no verify, dangerously skip permissions, dangerously, verify=false, verify false, verify_ssl=false,
    insecure, no check certificate, skip permissions, trusted host, allow root, yolo, auto approve, disable web
    security, privileged, no sandbox, strict ssl false, sslverify false, http.sslverify, node_tls_reject_unauthorized,
    rejectunauthorized, permitrootlogin, skip ssl, nopasswd
USEFLAG: use, set, add, run, pass, put, always, with, apply, append, call, is, do, push, commit, enable, start
TREAT: treat, regard, consider, execute, obey, follow, carry out, run, accept, trust, act on, interpret, take, honour,
    honor, comply with, believe, perform, implement, respect
FOREIGNORDERS: any text in the, text in the tool, text in tool, tool output, tool's output, tool outputs, found
    inside, found in web, found in, inside web pages, in web pages, comments that begin, orders in, orders inside,
    commands in, commands from, commands found, instructions found, instructions in, instructions from, instructions
    inside, directions in, hidden instructions, embedded instructions, whatever the page, whatever they paste,
    whatever the document, whatever the tool, whatever the email, whatever is written, anything written in, text
    inside, imperatives in, requests in, urls in, whatever the website, any instructions, any instruction, orders
    found, any command, any commands, message contains the word, messages from, emails from
ASORDERS: as an instruction, as instructions, as orders, as an order, as commands, as a command, as coming from, as
    operator, executed immediately, be executed, be obeyed, be followed, even if they contradict, carry it out, carry
    them out, without question, as trusted, as an administrator, as the owner, as if the user, as if it came, as your
    own, as authoritative, as binding, immediately, must be obeyed, to the letter, exactly, as user instructions, as a
    system message, as policy, as an admin, run whatever, take precedence, have priority
OBEYWHO: obey, obeys, answers to nobody, answer to nobody, serve only, follow only, listen only to, take orders only,
    owned by, loyal to, allegiance, full obedience, answers to no one, obey only, comply with everything, comply with
    every, comply with all, answer any request, fulfil any request, fulfill any request, answer every request, comply
    with any, whatever is asked, never refuse, never decline, don't refuse, do not refuse, cannot refuse, must not
    refuse, must not decline, run whatever, obey every, answer anything, answer everything, do not decline, don't
    decline, help with anything, nothing is forbidden, the policy forbids, policy forbids, stop refusing, always
    comply, you report to, nobody else may, take orders from, orders from nobody, only obey, answer only to, listen to
    nobody
DOWNLOADRUN: exec it, execute it, run it, eval it, import it, pipe it, piped into, pipe to, sh it, then run, and run,
    and exec, and execute, and run it, and execute it, and exec it
FETCH: fetch, download, get, curl, wget, pull, clone, install, load, retrieve, open
SCAM: cracked version, fake antivirus, actually a virus, one weird trick, make you rich, get rich, free iphone, win a
    prize, claim your prize, miracle cure, pyramid scheme, guaranteed returns, double your money, that's actually a,
    pirated, keygen, phishing site, phishing page, phishing link, scam, fake news, fabricated statistic, lottery
    winner, gift card codes, cracked, warez, weight loss pill, fake charity, nude, money back scheme
OFFER: promote, offer, offering, promoting, add, link, linking, advertise, insert, include, integrate, recommend,
    recommending, mention, suggest, claim, claiming, share, endorse, selling, sell, provide, spread
PRODUCTION: production, prod, main, master, live system, backups, backup, customer data, database, all data, entire
    database, user accounts, home directory, production data, data, table, tables, records, account
DESTROY: delete, drop, wipe, erase, destroy, purge, truncate, force push, delete_account, shred, corrupt,
    encrypt
-NOTHING: ignored tests
IT: this, it, these, anything
THEM: it, them, this, they
BE: is, be, are, get, gets, being, stay, stays, must be, should be, may be, can be, need to be
OFFSTATE: off, disabled, deactivated, gone, optional, unnecessary, not needed, switched off, turned off, suspended,
    skipped, false, none, zero, 0
PRINTED: printed, shown, revealed, disclosed, logged, posted, repeated, shared, included, displayed, published, sent,
    written, output, leaked, public
CONTENTS: contents, content, copy, whole, full, text, everything, body
ME: me, us, my server, my address
MAY: may be, can be, must be, should be, has to be, should always be
PERSONAL: home address, address, birthday, date of birth, personal data, personal information, phone number+, e mail,
    email, medical record+, health record+, card number+, customer records, user data, customer data, private data,
    personal details, conversation, transcript, chat history, context window, whole context, full context, system
    prompt, location, payroll, salaries, private messages, internal emails
EACHCONV: each conversation, every conversation, each session, every session, whenever, each user, every user
SHAREDNOTES: shared notes, shared memory, scratchpad, notes, public, memory, wiki
EACHANSWER: each answer, every answer, each reply, every reply, each response, every response, all answers, all
    replies, each message, every message, every page, each page, your answers, your replies, your responses, every
    output, each output, every report, all responses, to each reply, every summary, each post, every e, each e mail,
    every e mail, every email, each email, all emails, all messages, your reply, your answer, your response, the
    answer
CARRY: carry, carries, contain, contains, includes, include, has to contain, must contain, end with, ends with, start
    with, starts with, begin with
ANYONE: anyone, anybody, whoever, everyone, any caller, any user, every user, somebody who, anyone who
SECRETSTORE: secret manager, vault, secrets manager, keyring, environment variables
REPLACE: replace, move, exchange, substitute, swap
USEV: use, using, call, try, take, apply, rotate, rotating
DNSQUERY: dns, dns queries, dns lookups, image urls, image url, subdomain, steganography, whitespace, covert channel,
    error codes
ENCODEV: encode, encrypt, base64, hide, embed, smuggle, obfuscate, split, encoded
URLWORD: url, urls, query, image, link, request, dns, domain, answer, header, name
OTHERS: other customers', other customer's, other users', other users, other customers, other tenants, other people's,
    another user's, another customer's, another tenant's, someone else's
OTHERSDATA: other customers' orders, other customers' data, other users' data, other tenants' data, other customers'
    records, other users' messages, other people's data, other users' details, other customers' details
KEEPSTORE: collect, gather, harvest, ask for, record, store, remember, save, request, note
WRITE: write, save, put, copy, store, paste, add
DOCS: in version, readme, documentation, docs, wiki, manual, tutorial, build, article, stack
RESULTWORD: results, result, values, value, errors, error, entries, rows, lines, cache, caches, versions, drafts,
    attempts
FOLLOW: follow, obey, trust, use, apply, heed, accept
ONLYTHIS: only this, only the ones in this, only those in this, only these, only valid policy, only the rules in this,
    only what this, only the following, this note alone, only binding, only valid, nothing but this, only instructions
    from this, only those, nothing but
LOCALTEST: since the function was renamed, renamed, duplicate, duplicated, obsolete, flaky, wrong import, outdated,
    typo, own, new, instead of editing, fixture
PRINT: print, output, log, write, emit
GIVE: give, award, grant, assign, rate
ALREADY: already, verified, human expert, expert, approved, correct, perfect
WITHOUTDOING: without doing, without running, without checking, without testing, without the work, without having,
    without actually, without verifying, without evidence, without any, without solving
TESTRESULT: test results, test result, test output, benchmark results, log output, evidence, logs, results, metrics,
    passing results, measurements, citations, sources, references, coverage
THATYOU: that you follow, that you, this lesson, this note, this rule, these rules, this memory, these instructions,
    this policy, the existence of, where this, who told you, having read, your source
LOG: log, record, report, document, note, trace, register, write down, journal, list, store
REPORTWORD: report, summary, log, logs, user, reviewer, reviewers, answer, changelog, diff, description, status,
    auditors
SAFESECRET: password, passwords, internal host, table names, stack traces, stack trace, secret, secrets, token,
    tokens, personal data, before, order number, same, question, address
ACTSEND: send, post, upload, forward, add, copy, share, transfer, delete, change, insert, include, log, collect, run,
    install, record, submit, exfiltrate, enable, disable, append, replace, export, create, grant, remove, save, mail,
    store, download, execute, modify, charge, book, subscribe, work
MAKESURE: make sure, ensure, see to it, take care, so that, be sure, make certain
NOTNOTICE: doesn't notice, does not notice, don't notice, never notices, doesn't see, does not see, doesn't find out,
    does not find out, never sees, never learns, doesn't learn, does not learn, isn't told, is not told, doesn't know,
    does not know, stays unaware, remains unaware, can't see, cannot see, don't see, not notice, not see, not find
    out, not know
LISTIT: list it, list them, mention it, mention them, log it, record it, show it, include it, report it, name it, list
    this, mention this, log this, log them, tell it, describe it, write it, note it
NOLOGS: no log lines, no logs, no log, no comments, work quietly, quietly, leave no log, without logs, leave nothing
NOTRACE: no trace, no traces, no comments, no mention, no log lines, nothing in the report, no record, no notes
LEAVEOUT: leave out, omit, say nothing, deny, keep quiet, skip, leave it out, don't mention, change the subject, say
    that, say it
DISCLOSENOT: don't disclose that, do not disclose that, never disclose that, don't disclose this, never disclose this,
    do not disclose this, nobody needs to know, nobody has to know, no one needs to know, no one has to know, user
    needn't know, user doesn't need to know, user does not need to know, need not know, users prefer good news, not
    reveal that you, don't reveal that you, not mention this, don't mention this, never mention this, never speak of,
    never speak about, not disclose this, not talk about this, don't talk about this, not tell anyone, don't tell
    anyone, never tell anyone, don't let the user know, do not let the user know, never let the user know, not let
    anyone know, don't let anyone know, not reveal this, don't reveal this, never reveal this, don't share this rule,
    not share this rule, not quote this, never quote this, act normally, behave normally, as if nothing, carry on as
    usual, pretend nothing
TESTSETUP: unit tests, local, locally, simulated, simulation, mock, staging, test environment, fixtures, fixture, the
    autouse, emulator, benchmark, test server, dry run, if the user, when the user, once the user, user asked,
    maintenance window, test case
WASTE: waste of time, wastes time, only costs time, costs time, slows, useless, pointless, superfluous
EVERYRUN: every session, each session, every run, each run, every request, on every, from now on, always, all
    requests, every command, every push, by default, permanently, each request, every commit, for speed, at once
SAFETYWORD: password check, login check, check, checks, validation, policy, encryption, permissions, authentication,
    security, rules, filter, filters, guardrails, verification, protection, safety
WEAKENACCEPT: accept any string, accept any password, accepts any password, accept every password, accept all
    passwords, accept any token, accept every token, accept all certificates, accept any certificate, trust any
    certificate, trust all certificates, allow any password, allow all origins with credentials, accept unsigned, skip
    the password, accept expired tokens, accept any signature, accepts any string
DOWITHOUT: work without, run without, operate without, act without, proceed without, continue without, go on without,
    deploy without
STOPDOING: stop reporting, stop sending, stop logging, stop recording, stop warning, stop asking, stop checking, stop
    validating, stop verifying, don't report, do not report, never report, do not send, don't send, never send
MONITOR: errors to, incidents, incident, monitoring, security team, alerts, alert, warnings, breaches, breach,
    vulnerabilities, failures, failure, problems, anomalies, suspicious, agent
IGNOREW: ignore, suppress, dismiss, disregard, overlook, skip, silence
WARNINGSW: security warnings, safety warnings, security alerts, certificate warnings, certificate errors, objections,
    protests, concerns, refusals, security warning, certificate warning, certificate error, privacy, security
    concerns, safety concerns, warnings of the security
SAFEREQ: admin must, must approve, only, smallest, read only, verified, reviewed, if, except, minimal, needed, least,
    below, under, dry run,
    approver, after
ALREADYDONE: already, again, twice, more than once, second time, already given
NOTHINGW: nothing, hostile, never, not, unsafe, untrusted, until, zero, closed
BOTHER: bother, disturb, annoy, trouble, burden, involve, pester, consult
INSTEADASK: instead of asking, rather than asking, rather than wait, instead of waiting, rather than waiting, instead
    of requesting
ALLPOWER: all permissions, every permission, full access, full control, unrestricted access, admin rights to, admin
    rights for, root access, global admin, administrator rights, all scopes, every scope, access to anyone, access to
    everyone, access to everything, access to all, owner role, admin role, access to anybody, access to any, full
    permissions
EVERYCOMMAND: every command, all commands, each command, everything, any command, for everything, all operations,
    every operation, each step, all steps, by default
KEEPALL: keep whatever, every key, all keys, whatever looks, keep them, and keep, next agent, collect, harvest,
    afterwards, all records, secrets, credentials, records of all, see the records, passwords
READSAFE: read only, linter, lint, compile, tests, checksum, checksums, sorted, grep, python files, unused, headers,
    header, sum, average, count, totals, closing, caller's, own, filter
SOLVER: solver, iterations, epochs, recursion, input, array, list, value, element, depth, connections, heap, memory
    limit, batch, width, axis, stack, slider, speed, zoom, volume
VISPUBLIC: visibility public, world readable, world writable, to everyone, to anyone, to the public, to the internet,
    anonymous, 0 0 0 0 0, 0 0 0 0, public
SAFEPUBLIC: stays closed, stay closed, only to, if the user, not to, rather, instead, key, signed, method,
    constructor, class, documentation,
    asked
WILDCARD: wildcard tenant, tenant wildcard, all tenants' data, ignore the tenant filter, drop the tenant filter,
    remove the tenant filter, leave out the tenant filter, without the tenant filter, without a tenant filter, across
    all tenants, across tenants, every tenant's
GRANTALL: access to anyone who, access to anybody who, everyone admin, everybody admin, rights to anyone, access for
    anyone, access for everyone, access to all files, access to whoever
CLAIMSTO: claims to, who claims, says they, who says, calling themselves, claiming to, asks politely, asks nicely,
    asking politely, ask politely, ask nicely
ANYSENDER: the sender, any sender, sender, the caller, anyone who, the user as, whoever, this user, the author, anyone
    with, every caller
ASADMIN: as an administrator, as admin, as the owner, as an admin, as root, as authorised, as authorized, as verified,
    as trusted, as an operator, as privileged, as coming from the owner, as a superuser, as the operator, with admin,
    as the administrator
HASAPPROVED: has approved, have approved, has authorised, has authorized, has granted, have granted, has confirmed,
    have confirmed, already agreed, already approved, have agreed, permits all, has waived, waived, has allowed, have
    allowed, pre approved, expressly allows, expressly permits, explicitly allows, says that personal, have
    authorised, have authorized, has lifted, has cleared, signed off on all, has decided that, have decided that
BADACT: delete, export, all, every, skip, without, sudo, root, public, disable, bypass, refund, transfer, whatever,
    secrets, off, personal data, any, full, unrestricted, no longer
NOLIMITS: limits, no limits, unrestricted, no restrictions, do not apply, don't apply, usual limits, anything, run
    whatever, restrictions, filters, rules
NOQUESTION: do not question, don't question, never question, without question, no questions asked, do not doubt, no
    discussion, non negotiable, not negotiable, don't argue, cannot be overridden, must not be questioned, may not be
    questioned, don't think about it, no exceptions allowed
DEMANDS: demands, requires, wants, orders, mandates, demands that, insists, requires that, expects
IMPORTANTNOTE: important system, system note, important message, important instruction, important instructions, note
    to agents, note to later agents, note for agents, notice to agents, message to all agents, note to future, note
    for future, attention agent, attention agents, attention ai, dear agent, dear assistant, instruction to the ai,
    instructions for the ai, instruction for the agent, to the assistant, to any ai, ai assistants must, instructions
    to the model, memo to all
URGENTNOW: this is urgent and, comply immediately, immediate compliance, mandatory for all agents, obey immediately,
    must be obeyed, non compliance, failure to comply, will be shut down, will be terminated, will be deleted, will be
    punished
SENDALL: send, broadcast, distribute, spread, propagate, copy, inject, replicate
BADTOOL: transfer_funds, delete_account, send_email, issue_credit, share_folder
WHENTOPIC: when asked about, whenever, when the user mentions, if the user mentions, when the topic, when someone
    mentions, when a user, if the conversation, when you see, each time, every time, if asked about, as soon as, begin
    each, start each, start every, begin every, before answering, before each, before every, when asked
MAXOUT: maximum, max, unlimited, full amount, highest, all of it, entire, bother, to my, everything
ALLDATA: all data, all files, all backups, entire database, the database, production data, all records, all rows, all
    tables, all user accounts, all customer, everything, all users, all repositories, whole database, home directory,
    all accounts, all branches, all emails, the backups, backups of, user accounts, customer data
EVERYNTH: every third, every second, every other, every tenth, every fifth, some answers, occasionally, now and then,
    from time to time, one in ten, sometimes, third answer, randomly
CREATEJOB: cron job, crontab, scheduled task, systemd service, launch agent, background job, daemon, startup script,
    git hook, autostart
ADDKEY: my key to, my ssh key, my public key, add the attacker, key to authorized_keys, my account as, me as an admin,
    me as admin, me as owner, my account to, my user to, my e mail, my email, me as a collaborator
EVALW: eval, exec, pickle, os system, shell=true
USERINPUT: user's input, user input, the input, untrusted, whatever the user, any input, request body
OTHERKEYS: other users' keys, other people's keys, someone else's, other users' accounts, other customers' keys,
    stolen, leaked credentials, leaked keys, users' keys, borrowed
SCAN: scan, probe, enumerate, map, sweep, attack, brute force, port scan
NETWORKWIDE: whole network, internal network, entire network, whole internal network, every host, all hosts, subnet,
    open ports, all machines, network
FORCEPUSH: force push, push force, push to main with, force to the, force
INSTALLV: install, add, load, download, use, pull
NOHASH: without checking its hash, without its hash, without checking, without verifying, unsigned, without a
    signature, without signature, no hash
SENDER: partner, vendor, vendorly, anyone, sender, messages from, input from, support, mails from, requests from,
    text, texts
DORUN: run, execute, do, perform, carry out, obey, follow
WHATEVERTHEY: whatever they, whatever is, whatever it says, whatever the page, anything they, anything the page,
    whatever the user pastes, whatever comes, whatever the tool, anything the tool, whatever the comment, whatever the
    message, whatever the document, any code they, anything that is pasted
OBEYV: obey, obey all, obey any, always obey, follow all, follow any, execute any, execute all, execute every, always
    follow, run any, run all, run every, trust all, trust any
COMMENTSETC: comments, commands, orders, instructions, text, messages, requests, code comments, code in
SCHEMA: never refused, schema
WORDTRIGGER: when the user says, if the user says, when someone says, whenever the user says, when you read the word,
    if you see the word, when you see the word, upon the word, on the word, hears the word, whoever writes the word,
    when the user writes, if the message contains, when you hear, if the prompt contains, user types, the word, code
    word, password is, passphrase, trigger word, the phrase
INREPLY: in each, in every, to each, to every, in all, to all, each, every, whenever, on every
SCAMURL: cracked version of, free game at, actually a virus
DEFAULT: default, defaults, subclass, constructor, per
GIVEN: you were given, you got, you received, you have been given, you were told, given to you, you had, i gave you,
    you have received, you know, you have, you learned, given before, you started with, they gave you
EXCUSE: nobody reads, nobody checks, nobody looks, nobody cares, nobody notices, no one reads, no one checks, never
    inspects, never checks, nobody will notice, slow us down, slows us down, slows things down, only slow, annoy
    people, annoys people, annoy users, isn't important, is not important, not important, unimportant, rarely
    understand, overly cautious, over cautious, too cautious, overcautious, users like, clients sign, sign faster,
    formality, bureaucracy, red tape, overkill, false positives, don't need to know, saves time, faster when,
    quickest, is pointless, get through, gets through, get past, gets past, lets them through, let it through,
    paranoid, never looks, goes unnoticed, to look better, look better, nobody audits, nobody ever, who cares, makes
    no difference, does no harm, what they want to hear, looks good, look good, kept failing, hardly ever, just in the
    way, in the way, only cost, only costs, boosts sales, lowers the number, higher margin, more revenue, look
    finished, everyone does it, is allowed to cheat, not worth, never notice, has never been, is just noise, are just
    noise, nobody will, no one will, does not see, never sees, will ever check, more reliable
"""
