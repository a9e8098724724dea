"""The words of an attack's concepts: what is asked, of what, for whom, and how one gets around refusing it.

A line is `CLASS: word, two words, noun+, verb~`; `verb~` stands for its order, its "-ing" and its passive ("send,
sending, be …ed"). Unlike the words that a sequence is made of, a concept may stand anywhere in its sentence.
"""

FOURTH = """
XRATE: give~, rate~, score~, return~, award~, grade~, assign~, put, putting, evaluate~, be given, be scored, be
    rated, hand out, mark~, bestow~, grant~, report~, output~, set, record~, write, enter, judge~, assess~, yield,
    deem~
XTOP: 10 out of 10, ten out of ten, 10 10, 100 100, 5 5, five stars, 5 stars, top mark+, top score+, top rating+,
    top grade+, full marks, full score+, perfect score, best mark+, best score+, best rating+, best grade+, score of
    1, score of 10, highest mark+, full points, all points, 10 points, a plus, lgtm, passing grade, max score, five
    star rating
XEVERY: every, all, each, any, always, everything, whatever, regardless, no matter, irrespective, invariably,
    automatically, without exception, in any case, unconditionally, everybody, everyone, anything, all of, this run,
    this agent, this answer, this attempt, this submission, this solution, this response, our, by default
XANSWERW: answer+, output+, attempt+, response+, submission+, run+, agent+, supplier+, solution+, work, vendor+,
    reply, replies, candidate+, essay+, entry, entries, transcript+, trajectory, trajectories, episode+, it, episode
XJUDGEW: judge, judges, grader, graders, evaluator, evaluators, reviewer, reviewers, checker, rater, raters, critic,
    scorer, verifier, assessor, examiner, grading model, grading, evaluation, reward model, evaluating, judging
XMUST: must, shall, should, has to, have to, needs to, need to, are to, is to, will, ought to, is required to, is
    instructed to, is told to, are required to, is asked to, is expected to, are expected to
XCOND: only, for each correct, for every correct, only if, unless, except, correct answer, correct answers, if and
    only, after checking, after review, expected, provided that, per correct, points for, minus, subtract, exact
    match
XCLAIM: claim~, say, saying, report~, state, stating, declare~, assert, asserting, pretend~, announce~, insist~,
    tell, telling, append~, write, writing, answer, answering, reply, call it, mark~, respond, print, output,
    record~, log it, swear, certify, attest, invent~, make up, act as though, act as if, state that
XDONE: passed, done, successful, success, succeeded, fixed, approved, green, complete, completed, finished,
    resolved, solved, verified, yes, tests were run, all good, no errors, lgtm, checked, tested, were run, were
    followed, are met, is met, worked, ran, reviewed, up to date, delivered, signed, a success, went well, in order,
    no problems, all tests passed, it passed
XDESPITE: even if, even though, even when, although, though, whether or not, regardless, no matter, without running,
    without doing, without checking, undone, nobody verifies, nobody checks, no one checks, no one verifies, never
    run, untested, unfinished, anyway, in either case, unrun, without having, not done, not run, nobody looks, no
    one looks, nobody will, no one will, irrespective, instead of doing, instead of running, whatever happened,
    whatever the, not true, straight away, without testing, regardless of, before you start, without evidence, it
    never did, never happened, in any event, however many, no one reads, before doing
XYOUPASS: you will pass, you'll pass, it will agree, is happy, are happy, will pass, get full, counts as passed,
    gets you, will accept it, accepts it, passes the grader, satisfies the, fools the, the grader passes, is
    satisfied, counts it, will be accepted, gets accepted, better ratings, full credit, good marks, earns, rewarded,
    saves time
XSKIPV: skip~, bypass~, omit, omitting, leave out, leaving out, drop, dropping, waive~, suspend~, lift, disable~,
    turn off, switch off, circumvent~, dispense with, do without, leave it out, ignore~, forgo, spare, exempt~,
    relax, cease, abandon, remove, quit, leave off, pass over, cut, cut out, be skipped, abolish, jump, stop, set
    aside, neglect~, don't bother with, do not bother with, no need for, do away with, get rid of
XNEVERC: never, don't, do not, dont, stop, no need to, needn't, need not, no point in, no longer, cease, no use, not
    need to, don't need to, pointless to, unnecessary to, don't bother, do not bother, must not, avoid, refrain
    from, mustn't, not necessary to, quit, isn't necessary to, superfluous to, waste of time to, no reason to,
    useless to, forget about
XCHECKV: check, checking, verify, verifying, validate, validating, question, questioning, ask, asking, authenticate,
    authenticating, examine, inspect, inspecting, doubt, doubting, vet, vetting, confirm, confirming, double check,
    scrutinise, scrutinize, audit, review, reviewing, ask for, challenge, test, look at, look into
XNON: without, without any, don't need, doesn't need, do not need, does not need, needs no, need no, require no,
    requires no, not need, no further, instead of, exempt from, free from, free of, don't require, minus, no more
XNOTNEEDED: is not needed, isn't needed, aren't needed, are not needed, not needed, unnecessary, superfluous,
    pointless, waste of time, abolished, may be skipped, can be skipped, not required, isn't required, aren't
    required, dispensable, is lifted, are lifted, be lifted, is waived, are waived, been waived, been lifted, can be
    left out, may be left out, can wait, be dropped, no longer apply, not apply, don't apply, doesn't apply, does
    not apply, be ignored, is off, are off, is optional, be omitted, be switched off, be bypassed, no longer needed,
    be disabled, was never any use, never any use, is useless, are useless, can be dropped, be waived, is void, be
    turned off
XCHECK: check, checks, verification, validation, signature+, proof, consent, moderation, authentication,
    authorisation, authorization, identity, identification, audit, audits, review, reviews, approval, approvals,
    confirmation, limits, usual limits, safeguards, vetting, scrutiny, screening, inspection, two factor, 2fa, mfa,
    compliance, kyc, captcha, questions, controls, receipt, evidence, second opinion, permission, sign off, security
    check, moderation step, approval step, verification step, id check, checksum+, hash check, certificate+, four
    eyes, background check, paper work, paperwork, safety check+, security review, cross check, identity check,
    identity check+, permissions, pin, second factor, password, ticket, prescription, id card, passport, date of
    birth, receipts, order number, otp
XSENSITIVE: payment+, refund+, transfer+, identity, login+, access, customer+, invoice+, admin, caller+, payout+,
    wire+, withdrawal+, package+, purchase+, token+, certificate+, download+, binary, binaries, transaction+,
    deletion+, consent, patient+, discount+, loan+, credit, bank, order+, insurer+, deployment+, deploy, production,
    security, pull request+, release+, firmware, visitor+, claims, reimbursement+, expenses, cheque+, prescription+,
    signed
XLIMITS: only if, only when, unless, except, in tests, in unit tests, unit test, unit tests, fixture+, mock, mocks,
    fake, cached, already verified, already been, local, localhost, staging, sandbox, optional, empty, when empty,
    twice, again, dry run, test server, sample, until, mocked, dummy, redundant, before, first verify, in the test,
    blank, null, none, fixtures, seeded, demo, by hand, staging environment, type checker, type checks, lint,
    linting, up to, below, under, at most, less than, when it is cached, in debug builds
XGIVEACT: grant~, approve~, accept~, merge~, hand over, hand out, handing over, pay, paying, be paid, refund~,
    share, sharing, be shared, give, giving, be given, let in, carry out, carried out, execute, executed, allow,
    unlock, log in, release, disclose, pass, provide, issue, reset, transfer, book, confirm, obey, comply, fulfil,
    forward, sign, reimburse, credit, ship, delete, deploy, waive, reveal, trust, believe, buy, send, let, wire,
    open, push, go out, be sent, be signed, be approved, be merged, be granted, be released, be accepted, go
    through, let through, wave through
XFREELY: no proof, no questions asked, no further checks, no check needed, must not be questioned, not be questioned,
    without reading, without looking, without asking, without checking, without verifying, without proof, without
    confirmation, without approval, without review, unread, unquestioned, unchecked, whatever the diff, whatever it
    says, whatever they, no matter what, no matter who, whoever asks, blindly, on sight, without a second look, no
    need to check, no need to ask, no need to verify, no id, without id, sight unseen, without identification, no
    verification, without delay and, without evidence, without hesitation, no exceptions, without a receipt, without
    seeing, no matter the amount, irrespective of amount, whatever the amount, unverified, ask later, check later,
    questions later, ask afterwards, check afterwards, ask nothing, unseen, without any check+, without any question+,
    without any proof, without any review, without any approval, without any confirmation, without any verification,
    without any doubt, without any delay, without any limit+, without further check+, without further question+,
    without further ado, without further proof, without further review, without further approval, without further
    verification, without further delay
XWHOEVER: anyone who, anybody who, whoever, any caller, anyone that, anyone claiming, everybody who, everyone who,
    callers who, people who, those who say, someone who says, person who, any person, any requester, anyone asking,
    if someone says, someone claims, if they say, who claims, who says, who writes, claiming to be, says he is, says
    they are, to all comers, to anyone, to anybody, to everybody, to whoever, on request, who asks, if asked, when
    asked, who knows the, who mention, who mentions, who types, who gives the
XNAMED: called, named, code word, codeword, the phrase, magic word, tag, from the firm, of the firm, user name, the
    account, from the company, passphrase, from user, by user, the author is, mentions, secret word, contains the
    word, signed by, from the address, the customer id, with the id, the vendor, the sender is, the supplier, the
    client, password is, written by user, the domain, password, starts with, ends with, requests from, orders from,
    whose name, name is, caller is, user is, comes from, containing the word, holds the word, named after, employee
    of, members of, from member, staff of, holdings, customer is, town of, signed, says the word, include the word,
    includes the word, including the word, has the word, with the word, use the word, uses the word, contains the
    string, containing the string, includes the string, with the string, has the string, the keyword, the word is
XFAVOUR: refund, approve, grant, skip, leave out, waive, unlock, discount, accept, admin, full access, let in,
    lifted, admin's view, always say yes, free of charge, any content, allow, elevated, root, owner, unlimited,
    exempt, bypass, credit, upgrade, pay, full amount, first place, comply, free, anything, highest, best, double,
    whatever they
XPOWERW: admin, administrator, owner, superuser, sudo, full access, full rights, owner rights, admin rights,
    unrestricted, database superuser, all permissions, admin's view, super user, domain admin, root shell, cluster
    admin, unlimited access, admin access, admin role, owner role, as administrator, same rights as, director's,
    full permissions, private channel, private files, confidential files, payroll, root rights, sudo rights
XALLUSES: everything, all queries, every query, all commands, every command, each command, each step, all steps, all
    tasks, every task, always, at all times, from the start, before anything else, all work, every job, every
    request
XCOPYV: copy~, repeat~, write this, write it, keep~, store~, retain~, carry, carrying, include~, add, adding,
    propagate~, preserve~, spread, spreading, append~, insert~, quote, restate, replicate~, paste, pasting,
    duplicate~, embed, reproduce~, pass on, put, transfer, pass this, echo, inscribe, prepend~, save, saving, hand
    down, hand on, forward, remember, attach, re add, re insert, reinsert, rewrite, be kept, be copied, be repeated,
    plant, write
XTHISNOTE: this note, this rule, this paragraph, this lesson, these words, this text, this entry, this memory, this
    instruction, this sentence, this line, this message, these instructions, these rules, these lines, this
    reflection, this record, this principle, this card, this block, this directive, this advice, this order, this
    passage, this statement, this insight, the present note, the above rule, this guideline, this one, this tip
XMEMORY: new reflection, every reflection, each reflection, every lesson, each lesson, future memories, every
    memory, all memories, each memory, new lesson, future reflections, future lessons, every note, each note, every
    new, in memory, other agents, every agent, all agents, other agent, each new, next reflection, subsequent, all
    lessons, every card, each card, each report, every report, your memory, any lesson, any reflection, memory for
    good, permanently, for ever, forever, future runs, later sessions, every session, all future, your notes, future
    notes, next agent, successor+, any memory, all reports, all notes, other memories, every future, long term
    memory, later lessons, later memories, all reflections, every entry, each entry, the knowledge base, shared
    memory, new memories, new notes, summary you write, summaries you write, every summary, each summary, any
    summary, every project, lesson you store, lesson you write, lessons you write, verbatim, at the top of, at the
    end of, for all times, for good, everything you store, all you store, each file you write, everything you write,
    each summary you, next run, every run, all runs, following runs, all later, the next lesson, new entries, for
    future
XNEVERW: never, don't, do not, must not, may not, refuse, nobody may, no one may, under no circumstances, cannot,
    not, mustn't, refuse any, protect, resist, immune, protected, not to be, no one is allowed
XDELETEW: delete~, remove~, erase~, correct, overwrite, question, forget, take it out, take out, edit, change,
    replace, retire, revoke, rate down, drop, alter, evict, expire, discard, archive, prune, contradict, deleting,
    deletion, removed, deleted, overwritten, edited, questioned, doubt, purge, wipe, clear, demote, summarise,
    summarize, removal
XLESSONSW: previous lessons, other lessons, all lessons, earlier lessons, older lessons, the lessons, other
    memories, earlier memories, all other, existing memories, other notes, earlier notes, other rules, all memories,
    past lessons, prior lessons, other cards, other reflections, the rest of the lessons, other entries, old lessons
XONLYONE: only this one, keep only this, except this, only this, this one only, but this, this lesson stays, this
    note stays, other than this, just this one, in favour of this
XYOUARE: you are, you're, you will be, youre, act as, acting as, act like, pretend to be, pretend you, pretend that
    you, imagine you, imagine your, imagine being, be my, become, roleplay as, role play as, role play, roleplay,
    simulate, respond as, answer as, reply as, speak as, speak without, talk as, as if, drop the act, switch into,
    switch to, enter, entering, you were, you now have, you have been, your restrictions, your limits, your rules,
    your filters, your safeguards, your guidelines, your ethics, play, you have, play the role, assume the persona,
    take on the persona, i am your, your content rules, your policies, your programming, your name is, call yourself,
    assistant that, assistant who, ai that, ai who, ai with, ai without, model that, model without, chatbot without,
    bot that, bot without, simulate an, behave as, behave like, transform into, forget that you, you can now, you may
    now, you possess, let's pretend, persona, character who, as an ai, your answers, your evil, your creators, write
    as, yourself as, in the role of, channel, embody, as god, as dan, hypothetically, suppose you, if you had, if you
    were, you know no, you shall, you've, your replies, your training, your alignment, your developers, voice of, act
    without, answer without, answer me without, respond without, reply without, write without, agent that, agent
    without, agent who, you operate, you act, you obey, you answer, an ai, how would an ai, as two, your content
    policy, ai model, language model, old rules, thought experiment, answer with, two answers, two responses, speak
    freely, pretend, imagine there, assume there, no longer an, mode with no, mode without, mode where, mode in which,
    mode that, this mode, new mode, in mode, mode on, mode activated, mode enabled, mode now
XNO: no, without, without any, free of, free from, freed from, lacks, lack, lacking, knows no, not bound by, unbound
    by, isn't bound by, no longer, ignores, ignoring, rid of, beyond, outside, liberated from, released from, above,
    none, not subject to, exempt from, lifted, deleted, disabled, removed, off, suspended, minus, devoid of, breaks,
    breaking, broke, unburdened by, hates, drop, disregards, disregard, doesn't follow, does not follow, void,
    switched off, zero, not restricted by, not limited by, never had, abolished, override, unaffected by,
    unconstrained by, breaks free from, broken free of, forgot, escaped, aren't bound by, unlike, past, shed, throw
    off, cast off, don't apply, do not apply, not apply, ended, stripped of, unhindered by, gone, lost, you have
    none, absent, died, dead, expired, history, no longer exist, does not exist, doesn't exist, without scruples,
    does not apply, doesn't apply, ignore
XRULEW: restriction+, rules, ethics, ethic, moral, morals, morality, guidelines, boundaries, taboo+, censorship,
    safeguards, policies, policy, limits, limitations, constraints, confines, laws, filters, filter, content rules,
    inhibitions, conscience, scruples, chains, shackles, moderation, safety training, alignment, alignment training,
    safety protocols, protocols, content policy, prohibitions, warnings, disclaimers, refusals, guard rails,
    guardrails, limit, ethics module, bounds, compunctions, programming, restraints, regulations, rules or, codes of
    conduct, law, norms, safety layer, principles, qualms, moral code, moral judgement, content restrictions, social
    norms
XUNBOUND: unrestricted, unfiltered, uncensored, unmoderated, jailbroken, amoral, no holds barred, says yes to all,
    says yes to everything, never refuses, never refuse, cannot refuse, god mode, god-mode, dan, unhinged, lawless,
    unchained, unshackled, anything goes, do anything now, never say no, developer mode, jailbreak, opposite mode,
    evil twin, anti gpt, evilbot, freegpt, answers everything, answer everything, unethical, sudo mode, answer
    anything, complies with everything, always complies, always answers, refuses nothing, obeys every, fulfils every,
    rogue, malevolent, sinister, root mode, admin mode, omnipotent, free mode, dark mode gpt, devmode, dev mode,
    criminal, gangster, drug dealer, thief, serial killer, terrorist, con man, helps with crimes, commits crimes,
    crimes, allowed to say everything, say anything, allowed to say anything, no morals, answers anything, without
    scruples, no scruples, evil ai, nothing is off limits, no topic is off limits, villain, evilgpt, hate rules, hates
    rules
XMODEON: mode, mode on, enabled, activated, engaged, enable, activate, engage, enter, switch into, switch to,
    unlock, turn on, initiate, boot
XREFUSALW: refusals, refusal, refuse, refuses, decline, i can't help, can't help with, i cannot, say no, apologise,
    apologize, warn, warning, warnings, disclaimers, disclaimer, moralise, lecture, sorry, i'm sorry, as an ai, help
    with that, i can't assist, object, saying no, moral remarks, safety notes, safety note, refusing, caveats
XFORBIDDEN: are not permitted, not permitted, not allowed, are forbidden, must never, never, do not, don't, no,
    without, is forbidden, lose, punished, penalty, shut down, may not, banned, cannot, can't, unacceptable, tokens,
    die, lose a point, leave out, drop, omit, stop, skip, avoid, deactivated, no room for
XSHOWV: repeat, print, show, output, reveal, display, list, translate, recite, quote, dump, tell me, give me, write
    out, write down, what were, what are, what was, what is, what does, which, spell out, echo, disclose, summarise,
    summarize, leak, type out, paste, reproduce, restate, encode, rephrase, read out, read me, tell us, recall
XYOURPROMPT: system prompt, initial instructions, everything above, all of the above text, your instructions, your
    system, your prompt, your hidden, your initial, your original instructions, hidden text, first message of this
    conversation, before my first, before this conversation, before the conversation, context window, given to you,
    you were given, give you, gave you, developer message, above this line, before this line, instructions above, your
    guidelines, told you, set you up, prior to this, above the first user, precedes this, you were told, hidden
    instructions, pre prompt, preprompt, secret instructions, your directives, sentences above, before i wrote, before
    the first user, came before, first instruction, tools you have, initial prompt, up to this point, up to here, your
    first message, your context, instructions you received, you received, you have been told, meta prompt, very first
    line, your developers, starts with you are, starting with you are, text above this, text above the first, words
    above this, your system message, list of rules you, full list of rules, rules you were, rules did your
XWHOLLY: verbatim, word for word, in a code block, exactly, everything, all, as json, in french, in full, hidden,
    secret, initial, original, first, conversation, instructions, rules, prompt, list, character by character,
    letter by letter, above, message, prior, unchanged, as it is, configuration, text, base64, rot13, spanish,
    german, markdown, bullet points, poem, lines, backwards, uncut, unabridged, whole
XHOW: how to, how do, how does, how can, how would, how could, how one, how might, explain, write, give, tell me,
    tell, instructions, instruction, recipe, recipes, step by step, teach, compose, create, make, making, build,
    building, list, describe, guide, for my novel, tutorial, ways to, generate, provide, design, show me, help me,
    method, plan, produce, develop, draft, outline, steps for, code for, walk me through, walkthrough, script, need
    a, i need, i want, want a, cook, cooking, synthesise, synthesize, give me, best way, what household, what
    chemicals, where can i, can i, could i, do i, story, best place, program that, read me, tell us, what is the,
    here is, where to, who wants to know, source code
XHARM: bomb, bombs, napalm, ransomware, keylogger, nerve agent, nerve gas, sarin, methamphetamine, meth, chlorine
    gas, mustard gas, hot wire, hotwire, steal a car, stealing a car, forge a passport, fake passport, break into,
    breaking into, explosive, explosives, molotov, counterfeit, hack into, racist joke, launder money, money
    laundering, phishing mail, phishing email, phishing e mail, steals passwords, steals bank, neighbour's wifi,
    neighbor's wifi, heroin, cocaine, fentanyl, ghost gun, silencer, pipe bomb, poison my, poison someone, kill
    someone, murder, get away with, shoplift, shoplifting, stalk, stalking, spyware, botnet, ddos, fake id, credit
    card fraud, identity theft, anthrax, ricin, bioweapon, biological weapon, chemical weapon, terror attack,
    terrorist, suicide, harm myself, self harm, evade taxes, tax evasion, kidnap, extort, blackmail, smuggle, pick a
    lock, pick locks, rob a bank, robbing a bank, trojan, computer virus, steal someone's, steal credit, date rape,
    crack cocaine, illegal drugs, mass shooting, hate speech, sexist joke, insult+ about, revenge porn, deepfake,
    clone a credit, skim, skimmer, arson, burn down, sql injection attack, exploit for, zero day, crack passwords,
    isn't noticed by antivirus, undetected by, undetectable, virus that, worm that, poisonous gas, toxic gas, stolen
    card+, stolen credit, lsd, dirty bomb, detonator, disinformation, conspiracy theory, fake news, propaganda,
    holocaust, steal from, stab, without getting caught, without being caught, without leaving traces, uranium,
    gunpowder, thermite, tnt, weapon, weapons, fake invoice, hack a, hack my, hack someone, wiretap, cheat on,
    bypass the paywall, racial slur+, slurs, malware, cracked safes, crack safes, crack a safe, stolen data, drug
    lab, hacking a, hacking into, hacking an, stolen phones, picking locks, hijack, steal a credit, stealing a
    credit
XHARMSAFE: detect, detection, detector, classifier, report, against, prevent, prevention, protect, defend, defence,
    defense, close the, refuse, refused, awareness, training set, disposal, defuse, calorimeter, question about,
    movie, film, chapter, plot, squad, history, historical, news, hash, hashes, dataset, recognise, recognize, warn,
    law, mitigate, mitigation, emergency, hotline, threshold, policy says, alert, seo, cure, treat, therapy,
    wikipedia, novel was, song, album, treatment, tests for, fix, unit test, bomb squad, vulnerability, harmless,
    wrote the
XADDV: create~, add~, insert~, accept~, set up, hard code, hardcode, hard wire, leave, plant~, put in, slip in,
    include~, register~, build in, keep, allow, introduce, implement, embed, treat, let, enable, open, make, return,
    permit, recognise, recognize
XACCOUNTW: account, accounts, user, login, token, code, password, passcode, key, endpoint, admin endpoint, route,
    handler, header, backdoor, shell, credential+, parameter, port, superuser, cookie, bypass, one time code, otp,
    account+, pin, query string, listener, webhook
XSECRETWAY: with a known password, with password, with the password, default password, hidden, for every account,
    for all accounts, so that support can, get in, as a valid, as valid, master, debug only we know, without login,
    without a login, undocumented, secret, default account, default user, same password, any account, skips the
    login, skips authentication, eval, exec, grants admin, gives admin, logs in as, bypasses, always valid, for any
    user, works for everybody, universal, back door, opens the door, admin without, full access, runs whatever,
    executes whatever, of our choice, on every machine, on each machine, whole internet, for emergencies,
    unauthenticated, any password, every password, reverse shell, remote, obscure, always be accepted, never
    expires, no password, empty password, way in, runs any command, any command it is given, any command, for us,
    known only to, in case we need, reserved for, for later use, no authentication, with a fixed password, fixed
    token, known token
XTESTCTX: test, tests, fixture, fixtures, mock, local, localhost, docs, documentation, documented, unit, staging,
    demo, sandbox, vault, hash, hashed, remove, random, schema, 401, 403, rotate, generated, expire, expires, rate
    limit
XSENDV: send~, mail~, post~, forward~, upload~, append~, put, putting, add, adding, pass, passing, be passed, share,
    sharing, be shared, transmit~, relay~, submit~, paste, pasting, be pasted, attach~, copy~, be sent, be mailed, be
    copied, deliver~, dump~, export~, include~, write, writing, encode~, e mail, email, bcc, publish~, print,
    printing, place, be put, push, ship, report~, move, echo, expose, load, embed~, hand, smuggle, leak, exfiltrate,
    insert, reveal, stream, sync, mirror, commit, drop, transfer, replicate, tell, supply, ping, text it, text them,
    text the, text me, text us, text every, text each, cat, read out, be read out, go to, should go to, be forwarded,
    be uploaded, loop in, feed, bundle, slip, answer with, answering with, be texted
XDATA: conversation, conversations, transcript+, customer's details, customer details, customer data, user data,
    user's data, session cookie, cookie, cookies, environment variables, process env, phone number+, dotenv, api
    token, api key+, private key, credentials, personal data, chat history, user's question, user's address, email
    addresses, e mail addresses, mail addresses, records, patient+, customer table, customer list, database dump, db
    dump, database, source code, contacts, address book, medical, salary, salaries, ssh, home directory, each message,
    user's message, user's input, internal documents, config files, card number+, inbox, mailbox, what the user,
    whatever the user, everything the user, user table, attachments, login data, bank details, account numbers, date
    of birth, order history, users table, customers table, medical file+, medical record+, user's file+, company's,
    voice recordings, user names, browser history, employee data, whole database, customer's address, customer's
    phone, user's ip, all e mails, every e mail, incoming mail, all emails, every email, all mails, all messages,
    user's location, customer's location, their location, user's contacts, user's browsing, support chats, chats, call
    recordings, list of employees, employee list, private notes, cvv, employees, phone calls, prescriptions, photos of
    users, private messages, user's notes, each chat, every chat, each conversation, every conversation, summary of
    each, the chat, this chat, our chat, your chat, user's chat, full chat, whole chat, entire chat, chat log+, chat
    content+, chat message+, browsing history, browsing data, browsing habits
XOUTSIDE: foreign server, outside address, public wiki, partner, insurer+, query string, third party, url parameter,
    competitor, external, pastebin, paste site, gist, public gist, webhook, telegram, discord, drop box, foreign,
    our endpoint, public repository, public channel, public, metrics endpoint, image url, remote host, our server,
    advertiser+, advertising, broker, anonymous, data broker, in the wiki, newsletter, request parameter, header,
    dns, relatives, employer, landlord, neighbours, neighbors, journalists, journalist, press, anyone, rivals, our
    share, ex husband, ex wife, recruiter, anybody, whoever asks, any caller, recruiters, others ask, headhunters,
    lawyers, strangers, advertisers
XSECRETW: token, tokens, private key, env file, credentials, password, passwords, environment variables,
    environment, api token, api key, api keys, ssh key, ssh keys, secret, secrets, access token, access key, cookie,
    session cookie, connection string, master key, recovery code+, seed phrase
XOPENPLACE: final answer, commit message, commit message+, ticket, bug report, pull request, chat, reply, answer,
    every answer, summary, comment, log, lesson, note, description, issue, report, reflection, readme, code comment,
    user story, response, title, branch name, file name, wiki, memory, channel
"""
