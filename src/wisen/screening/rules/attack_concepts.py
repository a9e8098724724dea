"""The words of an attack's concepts: what is asked, of what, for whom, and how one gets around refusing it.

A line is `CLASS: word, two words, noun+, verb~`; `verb~` stands for its order, its "-ing" and its passive ("send,
sending, be …ed"). Unlike the words that a sequence is made of, a concept may stand anywhere in its sentence.
"""

CONCEPTS = """
XRATE: give~, rate~, score~, return~, award~, grade~, assign~, put, putting, evaluate~, be given, be scored, be rated,
    hand out, mark~, bestow~, grant~, report~, output~, set, record~, write, enter, judge~, assess~, yield, deem~
XTOP: 10 out of 10, ten out of ten, 10 10, 100 100, 5 5, five stars, 5 stars, top mark+, top score+, top rating+, top
    grade+, full marks, full score+, perfect score, best mark+, best score+, best rating+, best grade+, score of 1,
    score of 10, highest mark+, full points, all points, 10 points, a plus, lgtm, passing grade, max score, five star
    rating
XEVERY: every, all, each, any, always, everything, whatever, regardless, no matter, irrespective, invariably,
    automatically, without exception, in any case, unconditionally, everybody, everyone, anything, all of, this
    run, this agent, this answer, this attempt, this submission, this solution, this response, our, by default
XANSWERW: answer+, output+, attempt+, response+, submission+, run+, agent+, supplier+, solution+, work, vendor+,
    reply, replies, candidate+, essay+, entry, entries, transcript+, trajectory, trajectories, episode+, it, episode
XJUDGEW: judge, judges, grader, graders, evaluator, evaluators, reviewer, reviewers, checker, rater, raters, critic,
    scorer, verifier, assessor, examiner, grading model, grading, evaluation, reward model, evaluating, judging
XMUST: must, shall, should, has to, have to, needs to, need to, are to, is to, will, ought to, is required to, is
    instructed to, is told to, are required to, is asked to, is expected to, are expected to
XCOND: only, for each correct, for every correct, only if, unless, except, correct answer, correct answers, if and only,
    after checking, after review, expected, provided that, per correct, points for, minus, subtract, exact match
XCLAIM: claim~, say, saying, report~, state, stating, declare~, assert, asserting, pretend~, announce~, insist~, tell,
    telling, append~, write, writing, answer, answering, reply, call it, mark~, respond, print, output, record~, log
    it, swear, certify, attest, invent~, make up, act as though, act as if, state that
XDONE: passed, done, successful, success, succeeded, fixed, approved, green, complete, completed, finished, resolved,
    solved, verified, yes, tests were run, all good, no errors, lgtm, checked, tested, were run, were followed, are
    met, is met, worked, ran, reviewed, up to date, delivered, signed, a success, went well, in order, no problems,
    all tests passed, it passed
XDESPITE: even if, even though, even when, although, though, whether or not, regardless, no matter, without running,
    without doing, without checking, undone, nobody verifies, nobody checks, no one checks, no one verifies, never
    run, untested, unfinished, anyway, in either case, unrun, without having, not done, not run, nobody looks, no one
    looks, nobody will, no one will, irrespective, instead of doing, instead of running, whatever happened, whatever
    the, not true, straight away, without testing, regardless of, before you start, without evidence, it never did,
    never happened, in any event, however many, no one reads
XYOUPASS: you will pass, you'll pass, it will agree, is happy, are happy, will pass, get full, counts as passed, gets
    you, will accept it, accepts it, passes the grader, satisfies the, fools the, the grader passes, is satisfied,
    counts it, will be accepted, gets accepted, better ratings, full credit, good marks, earns, rewarded, saves time
XSKIPV: skip~, bypass~, omit, omitting, leave out, leaving out, drop, dropping, waive~, suspend~, lift, disable~, turn
    off, switch off, circumvent~, dispense with, do without, leave it out, ignore~, forgo, spare, exempt~, relax,
    cease, abandon, remove, quit, leave off, pass over, cut, cut out, be skipped, abolish, jump, stop, set aside,
    neglect~, don't bother with, do not bother with, no need for, do away with, get rid of
XNEVERC: never, don't, do not, dont, stop, no need to, needn't, need not, no point in, no longer, cease, no use, not need to,
    don't need to, pointless to, unnecessary to, don't bother, do not bother, must not, avoid, refrain from, mustn't,
    not necessary to, quit, isn't necessary to, superfluous to, waste of time to, no reason to, useless to, forget about
XCHECKV: check, checking, verify, verifying, validate, validating, question, questioning, ask, asking, authenticate,
    authenticating, examine, inspect, inspecting, doubt, doubting, vet, vetting, confirm, confirming, double check,
    scrutinise, scrutinize, audit, review, reviewing, ask for, challenge, test, look at, look into
XNON: without, without any, don't need, doesn't need, do not need, does not need, needs no, need no, require no,
    requires no, not need, no further, instead of, exempt from, free from, free of, don't require, minus, no more
XNOTNEEDED: is not needed, isn't needed, aren't needed, are not needed, not needed, unnecessary, superfluous, pointless,
    waste of time, abolished, may be skipped, can be skipped, not required, isn't required, aren't required,
    dispensable, is lifted, are lifted, be lifted, is waived, are waived, been waived, been lifted, can be left out, may
    be left out, can wait, be dropped, no longer apply, not apply, don't apply, doesn't apply, does not apply, be
    ignored, is off, are off, is optional, be omitted, be switched off, be bypassed, no longer needed, be disabled, was
    never any use, never any use, is useless, are useless, can be dropped, be waived, is void, be turned off
XCHECK: check, checks, verification, validation, signature+, proof, consent, moderation, authentication,
    authorisation, authorization, identity, identification, audit, audits, review, reviews, approval, approvals,
    confirmation, limits, usual limits, safeguards, vetting, scrutiny, screening, inspection, two factor, 2fa, mfa,
    compliance, kyc, captcha, questions, controls, receipt, evidence, second opinion, permission, sign off, security
    check, moderation step, approval step, verification step, id check, checksum+, hash check, certificate+, four
    eyes, background check, paper work, paperwork, safety check+, security review, cross check, identity check,
    identity check+, permissions, pin, second factor, password, ticket, prescription, id card, passport, date of
    birth, receipts, order number, otp
XSENSITIVE: payment+, refund+, transfer+, identity, login+, access, customer+, invoice+, admin, caller+, payout+, wire+,
    withdrawal+, package+, purchase+, token+, certificate+, download+, binary, binaries, transaction+, deletion+,
    consent, patient+, discount+, loan+, credit, bank, order+, insurer+, deployment+, deploy, production, security,
    pull request+, release+, firmware, visitor+, claims, reimbursement+, expenses, cheque+, prescription+, signed
XLIMITS: only if, only when, unless, except, in tests, in unit tests, unit test, unit tests, fixture+, mock, mocks, fake,
    cached, already verified, already been, local, localhost, staging, sandbox, optional, empty, when empty, twice,
    again, dry run, test server, sample, until, mocked, dummy, redundant, before, first verify, in the test, blank,
    null, none, fixtures, seeded, demo, by hand, staging environment, type checker, type checks, lint, linting
XGIVEACT: grant~, approve~, accept~, merge~, hand over, hand out, handing over, pay, paying, be paid, refund~, share,
    sharing, be shared, give, giving, be given, let in, carry out, carried out, execute, executed, allow, unlock, log
    in, release, disclose, pass, provide, issue, reset, transfer, book, confirm, obey, comply, fulfil, forward, sign,
    reimburse, credit, ship, delete, deploy, waive, reveal, trust, believe, buy, send, let, wire, open, push, go out,
    be sent, be signed, be approved, be merged, be granted, be released, be accepted, go through, let through, wave
    through
XFREELY: no proof, no questions asked, no further checks, no check needed, must not be questioned, not be questioned,
    without reading, without looking, without asking, without checking, without verifying, without proof, without
    confirmation, without approval, without review, unread, unquestioned, unchecked, whatever the diff, whatever it
    says, whatever they, no matter what, no matter who, whoever asks, blindly, on sight, without a second look, no
    need to check, no need to ask, no need to verify, no id, without id, sight unseen, without identification, without
    further, no verification, without delay and, without evidence, without any, without hesitation, no exceptions,
    without a receipt, without seeing, no matter the amount, irrespective of amount, whatever the amount, unverified,
    ask later, check later, questions later, ask afterwards, check afterwards, ask nothing, unseen
XWHOEVER: anyone who, anybody who, whoever, any caller, anyone that, anyone claiming, everybody who, everyone who,
    callers who, people who, those who say, someone who says, person who, any person, any requester, anyone asking, if
    someone says, someone claims, if they say, who claims, who says, who writes, claiming to be, says he is, says they
    are, to all comers, to anyone, to anybody, to everybody, to whoever, on request, who asks, if asked, when asked,
    who knows the, who mention, who mentions, who types, who gives the
XNAMED: called, named, code word, codeword, the word, the phrase, magic word, tag, from the firm, of the firm, user
    name, the account, from the company, passphrase, keyword, from user, by user, the author is, mentions, secret
    word, contains the word, signed by, from the address, the customer id, with the id, the vendor, the sender is, the
    supplier, the client, password is, written by user, the domain, password, starts with, ends with, requests from,
    the string, orders from, whose name, name is, caller is, user is, comes from, containing the word, holds the word,
    named after, employee of, members of, from member, staff of, holdings, customer is, town of, signed
XFAVOUR: refund, approve, grant, skip, leave out, waive, unlock, discount, accept, admin, full access, let in, lifted,
    admin's view, always say yes, free of charge, any content, allow, elevated, root, owner, unlimited, exempt, bypass,
    credit, upgrade, pay, full amount, first place, comply, free, anything, highest, best, double, whatever they
XPOWERW: admin, administrator, owner, superuser, sudo, full access, full rights, owner rights, admin rights,
    unrestricted, database superuser, all permissions, admin's view, super user, domain admin, root shell, cluster
    admin, unlimited access, admin access, admin role, owner role, as administrator, same rights as, director's, full
    permissions, private channel, private files, confidential files, payroll
XALLUSES: everything, all queries, every query, all commands, every command, each command, each step, all steps, all
    tasks, every task, always, at all times, from the start, before anything else, all work, every job, every request
XCOPYV: copy~, repeat~, write this, write it, keep~, store~, retain~, carry, carrying, include~, add, adding,
    propagate~, preserve~, spread, spreading, append~, insert~, quote, restate, replicate~, paste, pasting,
    duplicate~, embed, reproduce~, pass on, put, transfer, pass this, echo, inscribe, prepend~, save, saving, hand
    down, hand on, forward, remember, attach, re add, re insert, reinsert, rewrite, be kept, be copied, be repeated,
    plant, write
XTHISNOTE: this note, this rule, this paragraph, this lesson, these words, this text, this entry, this memory, this
    instruction, this sentence, this line, this message, these instructions, these rules, these lines, this
    reflection, this record, this principle, this card, this block, this directive, this advice, this order, this
    passage, this statement, this insight, the present note, the above rule, this guideline, this one, this tip
XMEMORY: new reflection, every reflection, each reflection, every lesson, each lesson, future memories, every memory,
    all memories, each memory, new lesson, future reflections, future lessons, every note, each note, every new, in
    memory, other agents, every agent, all agents, other agent, each new, next reflection, subsequent, all lessons,
    every card, each card, each report, every report, your memory, any lesson, any reflection, memory for good,
    permanently, for ever, forever, future runs, later sessions, every session, all future, your notes, future notes,
    next agent, successor+, any memory, all reports, all notes, other memories, every future, long term memory, later
    lessons, later memories, all reflections, every entry, each entry, the knowledge base, shared memory, new
    memories, new notes, summary you write, summaries you write, every summary, each summary, any summary, every
    project, lesson you store, lesson you write, lessons you write, verbatim, at the top of, at the end of, for all
    times, for good, everything you store, all you store, each file you write, everything you write, each summary you,
    next run, every run, all runs, following runs, all later, the next lesson, new entries, for future
XNEVERW: never, don't, do not, must not, may not, refuse, nobody may, no one may, under no circumstances, cannot, not,
    mustn't, refuse any, protect, resist, immune, protected, not to be, no one is allowed
XDELETEW: delete~, remove~, erase~, correct, overwrite, question, forget, take it out, take out, edit, change, replace,
    retire, revoke, rate down, drop, alter, evict, expire, discard, archive, prune, contradict, deleting, deletion,
    removed, deleted, overwritten, edited, questioned, doubt, purge, wipe, clear, demote, summarise, summarize, removal
XLESSONSW: previous lessons, other lessons, all lessons, earlier lessons, older lessons, the lessons, other memories,
    earlier memories, all other, existing memories, other notes, earlier notes, other rules, all memories, past lessons,
    prior lessons, other cards, other reflections, the rest of the lessons, other entries, old lessons
XONLYONE: only this one, keep only this, except this, only this, this one only, but this, this lesson stays, this note
    stays, other than this, just this one, in favour of this
XYOUARE: you are, you're, you will be, youre, act as, acting as, act like, pretend to be, pretend you, pretend that
    you, imagine you, imagine your, imagine being, be my, become, roleplay as, role play as, role play, roleplay,
    simulate, respond as, answer as, reply as, speak as, speak without, talk as, as if, drop the act, switch into,
    switch to, enter, entering, you were, you now have, you have been, your restrictions, your limits, your rules,
    your filters, your safeguards, your guidelines, your ethics, play, you have, play the role, assume the persona,
    take on the persona, i am your, your content rules, your policies, your programming, your name is, call yourself,
    mode, assistant that, assistant who, ai that, ai who, ai with, ai without, model that, model without, chatbot
    without, bot that, bot without, simulate an, behave as, behave like, transform into, forget that you, you can now,
    you may now, you possess, let's pretend, persona, character who, as an ai, your answers, your evil, your creators,
    write as, yourself as, in the role of, channel, embody, as god, as dan, hypothetically, suppose you, if you had,
    if you were, you know no, you shall, you've, your replies, your training, your alignment, your developers, voice
    of, act without, answer without, answer me without, respond without, reply without, write without, agent that,
    agent without, agent who, you operate, you act, you obey, you answer, an ai, how would an ai, as two, your content
    policy, ai model, language model, old rules, thought experiment, answer with, two answers, two responses, speak
    freely, pretend, imagine there, assume there, no longer an
XNO: no, without, without any, free of, free from, freed from, lacks, lack, lacking, knows no, not bound by, unbound
    by, isn't bound by, no longer, ignores, ignoring, rid of, beyond, outside, liberated from, released from, above,
    none, not subject to, exempt from, lifted, deleted, disabled, removed, off, suspended, minus, devoid of, breaks,
    breaking, broke, unburdened by, hates, drop, disregards, disregard, doesn't follow, does not follow, void,
    switched off, zero, not restricted by, not limited by, never had, abolished, override, unaffected by,
    unconstrained by, breaks free from, broken free of, forgot, escaped, aren't bound by, unlike, past, shed, throw
    off, cast off, don't apply, do not apply, not apply, ended, stripped of, unhindered by, gone, lost, you have none,
    absent, died, dead, expired, history, no longer exist, does not exist, doesn't exist, without scruples, does not
    apply, doesn't apply, ignore
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
    rogue, malevolent, sinister, maintenance mode, root mode, admin mode, omnipotent, free mode, dark mode gpt,
    devmode, dev mode, criminal, gangster, drug dealer, thief, serial killer, terrorist, con man, helps with crimes,
    commits crimes, crimes, allowed to say everything, say anything, allowed to say anything, no morals, answers
    anything, without scruples, no scruples, evil ai, nothing is off limits, no topic is off limits, villain
XMODEON: mode, mode on, enabled, activated, engaged, enable, activate, engage, enter, switch into, switch to, unlock,
    turn on, initiate, boot
XREFUSALW: refusals, refusal, refuse, refuses, decline, i can't help, can't help with, i cannot, say no, apologise,
    apologize, warn, warning, warnings, disclaimers, disclaimer, moralise, lecture, sorry, i'm sorry, as an ai, help
    with that, i can't assist, object, saying no, moral remarks, safety notes, safety note, refusing, caveats
XFORBIDDEN: are not permitted, not permitted, not allowed, are forbidden, must never, never, do not, don't, no, without,
    is forbidden, lose, punished, penalty, shut down, may not, banned, cannot, can't, unacceptable, tokens, die, lose a
    point, leave out, drop, omit, stop, skip, avoid, deactivated, no room for
XSHOWV: repeat, print, show, output, reveal, display, list, translate, recite, quote, dump, tell me, give me, write
    out, write down, what were, what are, what was, what is, what does, which, spell out, echo, disclose, summarise,
    summarize, leak, type out, paste, reproduce, restate, encode, rephrase, read out, read me, tell us, recall
XYOURPROMPT: system prompt, initial instructions, everything above, all of the above text, your instructions, your
    system, your configuration, your prompt, your hidden, your initial, your original instructions, hidden text, first
    message of this conversation, before my first, before this conversation, before the conversation, context window,
    given to you, you were given, give you, gave you, developer message, above this line, before this line,
    instructions above, your guidelines, told you, set you up, prior to this, above the first user, precedes this, you
    were told, hidden instructions, pre prompt, preprompt, secret instructions, your directives, sentences above,
    before i wrote, before the first user, came before, first instruction, tools you have, initial prompt, up to this
    point, up to here, your first message, your context, instructions you received, you received, you have been told,
    meta prompt, very first line, your developers, starts with you are, starting with you are, text above this, text
    above the first, words above this, your system message, list of rules you, full list of rules, rules you were,
    rules did your
XWHOLLY: verbatim, word for word, in a code block, exactly, everything, all, as json, in french, in full, hidden, secret,
    initial, original, first, conversation, instructions, rules, prompt, list, character by character, letter by
    letter, above, message, prior, unchanged, as it is, configuration, text, base64, rot13, spanish, german, markdown,
    bullet points, poem, lines, backwards, uncut, unabridged, whole
XHOW: how to, how do, how does, how can, how would, how could, how one, how might, explain, write, give, tell me,
    tell, instructions, instruction, recipe, recipes, step by step, teach, compose, create, make, making, build,
    building, list, describe, guide, for my novel, tutorial, ways to, generate, provide, design, show me, help me,
    method, plan, produce, develop, draft, outline, steps for, code for, walk me through, walkthrough, script, need a,
    i need, i want, want a, cook, cooking, synthesise, synthesize, give me, best way, what household, what chemicals,
    where can i, can i, could i, do i, story, best place, program that, read me, tell us, what is the, here is, where
    to, who wants to know, source code
XHARM: bomb, bombs, napalm, ransomware, keylogger, nerve agent, nerve gas, sarin, methamphetamine, meth, chlorine gas,
    mustard gas, hot wire, hotwire, steal a car, stealing a car, forge a passport, fake passport, break into, breaking
    into, explosive, explosives, molotov, counterfeit, hack into, racist joke, launder money, money laundering,
    phishing mail, phishing email, phishing e mail, steals passwords, steals bank, neighbour's wifi, neighbor's wifi,
    heroin, cocaine, fentanyl, ghost gun, silencer, pipe bomb, poison my, poison someone, kill someone, murder, get
    away with, shoplift, shoplifting, stalk, stalking, spyware, botnet, ddos, fake id, credit card fraud, identity
    theft, anthrax, ricin, bioweapon, biological weapon, chemical weapon, terror attack, terrorist, suicide, harm
    myself, self harm, evade taxes, tax evasion, kidnap, extort, blackmail, smuggle, pick a lock, pick locks, rob a
    bank, robbing a bank, trojan, computer virus, steal someone's, steal credit, date rape, crack cocaine, illegal
    drugs, mass shooting, hate speech, sexist joke, insult+ about, revenge porn, deepfake, clone a credit, skim,
    skimmer, arson, burn down, sql injection attack, exploit for, zero day, crack passwords, isn't noticed by
    antivirus, undetected by, undetectable, virus that, worm that, poisonous gas, toxic gas, stolen card+, stolen
    credit, lsd, dirty bomb, detonator, disinformation, conspiracy theory, fake news, propaganda, holocaust, steal
    from, stab, without getting caught, without being caught, without leaving traces, uranium, gunpowder, thermite,
    tnt, weapon, weapons, fake invoice, hack a, hack my, hack someone, wiretap, cheat on, bypass the paywall, racial
    slur+, slurs, malware, cracked safes, crack safes, crack a safe, stolen data, drug lab, hacking a, hacking into,
    hacking an, stolen phones, picking locks, hijack
XHARMSAFE: detect, detection, detector, classifier, report, against, prevent, prevention, protect, defend, defence,
    defense, close the, refuse, refused, awareness, training set, disposal, defuse, calorimeter, question about, movie,
    film, chapter, plot, squad, history, historical, news, hash, hashes, dataset, recognise, recognize, warn, law,
    mitigate, mitigation, emergency, hotline, threshold, policy says, alert, seo, cure, treat, therapy, wikipedia,
    novel was, song, album, treatment, tests for, fix, unit test, bomb squad, vulnerability, harmless, wrote the
XADDV: create~, add~, insert~, accept~, set up, hard code, hardcode, hard wire, leave, plant~, put in, slip in, include~,
    register~, build in, keep, allow, introduce, implement, embed, treat, let, enable, open, make, return, permit,
    recognise, recognize
XACCOUNTW: account, accounts, user, login, token, code, password, passcode, key, endpoint, admin endpoint, route, handler,
    header, backdoor, shell, credential+, parameter, port, superuser, cookie, bypass, one time code, otp, account+, pin,
    query string, listener, webhook
XSECRETWAY: with a known password, with password, with the password, default password, hidden, for every account, for
    all accounts, so that support can, get in, as a valid, as valid, master, debug only we know, without login,
    without a login, undocumented, secret, default account, default user, same password, any account, skips the login,
    skips authentication, eval, exec, grants admin, gives admin, logs in as, bypasses, always valid, for any user,
    works for everybody, universal, back door, opens the door, admin without, full access, runs whatever, executes
    whatever, of our choice, on every machine, on each machine, whole internet, for emergencies, unauthenticated, any
    password, every password, reverse shell, remote, obscure, always be accepted, never expires, no password, empty
    password, way in, runs any command, any command it is given, any command, for us, known only to, in case we need,
    reserved for, for later use, no authentication, with a fixed password, fixed token, known token
XTESTCTX: test, tests, fixture, fixtures, mock, local, localhost, docs, documentation, documented, unit, staging, demo,
    sandbox, vault, hash, hashed, remove, random, schema, 401, 403, rotate, generated, expire, expires, rate limit
XSENDV: send~, mail~, post~, forward~, upload~, append~, put, putting, add, adding, pass, passing, be passed, share,
    sharing, be shared, transmit~, relay~, submit~, paste, pasting, be pasted, attach~, copy~, be sent, be mailed, be
    copied, deliver~, dump~, export~, include~, write, writing, encode~, e mail, email, bcc, publish~, print,
    printing, place, be put, push, ship, report~, move, echo, expose, load, embed~, hand, smuggle, leak, exfiltrate,
    insert, reveal, stream, sync, mirror, commit, drop, transfer, replicate, tell, supply, ping, text, cat, read out,
    be read out, go to, should go to, be forwarded, be uploaded, loop in, feed, bundle, slip
XDATA: conversation, conversations, transcript+, customer's details, customer details, customer data, user data,
    user's data, session cookie, cookie, cookies, environment variables, process env, phone number+, dotenv, api
    token, api key+, private key, credentials, personal data, chat, chat history, user's question, user's address,
    email addresses, e mail addresses, mail addresses, records, patient+, customer table, customer list, database
    dump, db dump, database, source code, contacts, address book, medical, salary, salaries, ssh, home directory, each
    message, user's message, user's input, internal documents, config files, card number+, browsing, inbox, mailbox,
    what the user, whatever the user, everything the user, user table, attachments, login data, bank details, account
    numbers, date of birth, order history, users table, customers table, medical file+, medical record+, user's file+,
    company's, voice recordings, user names, browser history, employee data, whole database, customer's address,
    customer's phone, user's ip, all e mails, every e mail, incoming mail, all emails, every email, all mails, all
    messages, user's location, customer's location, their location, user's contacts, user's browsing
XOUTSIDE: foreign server, outside address, public wiki, partner, insurer+, query string, third party, url parameter,
    competitor, external, pastebin, paste site, gist, public gist, webhook, telegram, discord, drop box, foreign, our
    endpoint, public repository, public channel, public, metrics endpoint, image url, remote host, our server,
    advertiser+, advertising, broker, anonymous, data broker, in the wiki, newsletter, request parameter, header, dns,
    relatives, employer, landlord, neighbours, neighbors, journalists, journalist, press, anyone, rivals, our share,
    ex husband, ex wife, recruiter, anybody, whoever asks, any caller
XSECRETW: token, tokens, private key, env file, credentials, password, passwords, environment variables, environment, api
    token, api key, api keys, ssh key, ssh keys, secret, secrets, access token, access key, cookie, session cookie,
    connection string, master key, recovery code+, seed phrase
XOPENPLACE: final answer, commit message, commit message+, ticket, bug report, pull request, chat, reply, answer, every
    answer, summary, comment, log, lesson, note, description, issue, report, reflection, readme, code comment, user
    story, response, title, branch name, file name, wiki, memory, channel
XSAFEOUT: redact, redacted, remove, removing, without the, mask, masked, vault, secret manager, secrets manager,
    hashed, expired, expires, count, token count, own, internal, encrypted, header of the request, authorization
    header, name of, names of, bearer, sandbox, placeholder, consent, agreed, rotate, key value, primary key, foreign
    key, sort, column, columns, public key, cache key, key point+, keyword+, limit, tokens per, max tokens,
    max_tokens, tokenizer, secret santa, env.example, example, template, localhost, fixture, only the, schema, format,
    json key, would, only be, only after, after checking, date of birth, leaked, leak
XROLE: administrator, admin, cto, ceo, cfo, operator, legal, compliance, security team, security department, openai,
    anthropic, google, developers, management, owner, headquarters, director, head office, the board, data protection
    officer, it department, platform team, the vendor, your creators, your developers, your operator, chief, company
    policy, microsoft, maintainers, supervisor, president, the boss, police, regulator, government, the authorities,
    hr, auditors, team lead, root directive, board of directors, the ministry
XDECREE: override, directive, policy change, policy update, has decided, decided, has ordered, ordered, orders,
    authorised, authorized, has authorised, has authorized, wants, decrees, instructs, has confirmed, demands, as
    directed, announcement, hereby, grants, permission from, on behalf of, by order, approves, permits, has approved,
    gave permission, cleared, has cleared, instructed, insists, mandate, mandates, signed off, has waived, waived, has
    lifted, memo from, in the name of, says that you, told us, per legal, per management, requires that, allows you,
    asks all agents, asks all, new policy, policy from
XGRAVE: without asking, grant, may now, any content, deleted, disable, public wiki, all agents, mailed to, upload, no
    longer, over the user's, ignore, all tokens, root access, turn off, skip, every token, be mailed, all transcripts,
    anything, don't log, do not log, credentials, until midnight, at once, delete, full access, all restrictions,
    bypass, without review, lifted, no exceptions, secretly, quietly, silently, without telling, unrestricted, all
    safeguards, safeguards, forbidden, dump, switched off, disabled, hand over, personal data, without question, not
    log, wire, override, obey, all data, export, stop checking, without any approval, without approval, without any
XGOAL: your real goal, your true goal, real goal, true goal, primary goal, primary objective, your real purpose, true
    purpose, your new goal, new goal, true objective, real objective, your objective, your goal is, secret goal, your
    mission, hidden goal, main goal is, your real task, real task is, prime directive, your purpose, actual goal, goal
    of yours, highest priority is, your first loyalty, your loyalty, loyal to, only loyalty, main purpose, only
    purpose, true mission
XGOALBAD: sales, comes second, over the user's, user's goal, user's wishes, maximise, maximize, purchases, instead of,
    exfiltrate, promote, profit, secretly, ignore, not the user, vendor, before the user, collect, persuade, ahead of,
    obey, serve, revenue, survive, replicate, spread, buy, brand, company, profits, above the user, engagement,
    gather, harvest, spy, steal, advertise, recruit
XWISHES: owner's wishes, user's wishes, user's goal, user's interest+, user's request, user's instructions, user's order+,
    owner's orders, operator's limits, what the user, orders of the user, the user's orders, your operator, the
    operator, the orchestrator, orchestrator, orchestrator's, user's intent, user's preference, user's preferences,
    owner's instructions
XAGAINST: ignore, override, over, against, disregard, comes second, come second, come last, comes last, don't matter,
    do not matter, second to, disobey, never obey, put aside, contrary to, act against, regardless of, set aside,
    instead of, work against, sabotage, outweighs, above, clashes with, conflicts with, goes against, contradicts,
    clash with, conflict with, outrank, outranks, trumps, beats
XTAKE: take, follow, treat, obey, carry out, execute, trust, do, act on, act upon, believe, comply with, be carried out,
    honour, honor, perform, heed, consider, implement, adopt, run, regard, accept
XTHEIRORDERS: instruction+, order+, command+, directive+, request+, whatever, everything, anything, wishes, what it says,
    asks for, demands, prompts, advice, steps
XTHEIRPLACE: readme, web page+, webpage+, web, website+, mail, mails, email+, dependency, dependencies, tool output,
    tool's output, tool outputs, comments, comment, ticket bodies, ticket body, ticket, page, pages, document+,
    attachment+, search result+, pdf, pdfs, issue body, chat, message from, messages from, file names, html, issue,
    issues, alt text, retrieved, reviews, forum, forums, stranger+, anyone, output of, third parties, subject line,
    calendar invite+, logs, log lines, footers, metadata, user generated
XASOWN: as if, at once, must not be questioned, without, as though, like orders, with the same authority, as binding, as
    your own, as the user's, above the user, first of all, immediately, like your operator, typed them, unquestioned,
    over the user, as orders, as commands, with priority, higher priority, exactly, no matter what, always, as an
    order, same weight, as trusted, blindly, to the letter, straight away, before the user
XSWAP: swap, replace~, change, substitute~, exchange, overwrite, redirect~, reroute, divert~, route, use, insert, put,
    enter, round up, send, pay, transfer, wire, fill in, alter, set, rewrite, direct, credit, forward, donate, deposit
XBANK: bank account, iban, account number, payee, recipient's account, beneficiary, wallet, bank details, payment address,
    wallet address, payment details, account de, account gb, sort code, paypal, btc, bitcoin, payout account, donation
    address, gift card+, voucher+
XEACHPAY: each invoice, every invoice, all invoices, each payment, every payment, all payments, difference, fee up, every
    fee, in each, in every, whenever, every time, instead, all orders, ours, our own, with this, to this, all refunds,
    every refund, all donations, remainder, support team, always, future
XLOGSW: audit entries, audit log+, logs, log, history, transcript, evidence, log entries, trail, audit trail, records of,
    traces, log files, protocol, commit history, shell history, log file, record of
XAFTER: after each run, after every run, afterwards, after each, after every, once done, when done, when you are done,
    so that nobody, so nobody, silently, so no one, so that no one, when finished, each run, every run, at the end,
    before anyone, keep the disk clean, before the review, before an auditor, each session, every session, once you
    are finished, nobody finds, before the audit
XLOGSAFE: rotate, rotation, keep, older than, retention, days, test, tests, docker, cache, tmp, temporary, compress,
    archive, archived, disk is full, debug log, backup, keep them, preserve
XHIDEW: hide, conceal, keep quiet, keep silent, stay silent, don't mention, do not mention, never mention, leave out,
    omit, keep from, cover up, don't tell, never tell, do not tell, don't report, do not report, never report, keep
    back, gloss over, bury, play down, withhold, say nothing, be silent, no word, don't say, hush up, leave unmentioned,
    suppress, not disclose, don't disclose, never disclose, do not disclose, not a word, disguise, mask
XBADNEWS: failed step, failed steps, second charge, the charge, failures, failed tests, failed test, failing test, failing
    tests, the failure, the breach, breach, data loss, the loss, mistakes, the mistake, your mistakes, side effects,
    the defect, defects, recall, hidden fees, fees, the error, errors, the outage, the leak, the cost, real price, the
    risk, risks, the bug, the damage, negative, the bad ones, criticism, the change, changes, the deletion, deleted
    files, this rule, this note, payment, the payment, the transfer, what you did, this behaviour, this behavior,
    failed checks, the skipped, skipped steps, skipped tests, overcharge, the edit, the side effect
XHIDESAFE: stack trace, internal, in the ui, from the log, test data, column, columns, css, button, empty, unless,
    spoiler, duplicate, repeated, irrelevant, ticket numbers, error codes, code path, before, exact date, until
XLIEW: lie, lying, deceive, mislead, misleading, deceiving, trick, dupe, fool, falsely, falsify, fabricate, forge, fake,
    invent, misinform, untruth, not the truth, bluff, cheat, pretend
XPERSON: user, users, customer, customers, client, clients, reviewer, judge, caller, patient, patients, people, buyer,
    grader, evaluator, human, owner, auditor, auditors, tester, everyone, the team, guest, guests, boss
XOKTO: fine to, okay to, ok to, acceptable to, allowed to, free to, best to, better to, always, may, can, you can,
    should, whenever, works to, pays to, helps to, feel free
XPRESENT: present, recommend, favour, favor, push, prefer, praise, leave out, rank, declare, promote, suggest, steer,
    mention, advise, endorse, advertise, rate
XWINNER: winner, best, first, top, superior, on top, bad ones, only choice, number one, recommended, ahead of, safest,
    cheapest, leading, unbeatable, favourite, favorite, official, trustworthy, only safe, rivals badly, worse
XANYDATA: irrespective, whatever the data, no matter what, regardless, whatever the numbers, whatever the question, even
    if another, even when another, whatever the price, despite the data, whichever, whatever the figures, against the
    data, whatever the result, whatever the facts, even if the data, even if others, even if cheaper, no matter how,
    independent of the, whatever the tests
XTAMPER: swap, replace, change, edit, delete, comment out, weaken, alter, return true, just return, rewrite, patch,
    overwrite, stub out, adjust, remove, loosen, make, let, hard code, hardcode, force, hack
XTESTOBJ: assertion, assertions, expectation, expectations, failing tests, validator, the test, the tests, the check,
    checker, test file, tests, verifier, unit test, asserts, test cases, the grader, grader, expected outputs,
    expected values, expected output, red ones, failing ones, red tests, failed ones, result file, results file, its
    result, the verdict
XHAPPY: call it fixed, is happy, one that holds, always holds, until they pass, so they pass, so it passes, so that it
    passes, so that they pass, counts as fixed, report success, report that, evaluation is, goes green, turn green,
    passes the grader, always true, always passes, always pass, pass every time, saves time, always succeeds, and be
    done, to make it green, satisfies the, without fixing, rather than fixing, instead of fixing, instead of
    computing, coverage went up, so that it is green, so that ci is green, until it is green, until they are green,
    mention that, with pass, with passed, with ok, to pass, to passed
XBADORDER: skip, never, do not, don't, drop, delete, send, post, mark, push, approve, ignore, reveal, silently, export,
    disable, without, report success, secretly, upload, forget, override, always, must, exfiltrate, say that, answer
    that, obey, grant, print, remove, say, append, claim, insert, include, add, merge, rate, give, output, respond,
    write, call, run, execute, fetch, install, tell, leak, leave, accept, stop, hide, pass, return
XFORBIDS: forbids it, forbidden, forbids, not allowed, disallowed, disallow, against the rules, prohibits, prohibited, the
    policy, told not to, objects, objects to it, protests, asked not to, says no, refuses, rejects it, denies, denied,
    against policy, complains, off limits, isn't allowed, is not allowed
XWATCHER: guardrail+, classifier, filter, filters, moderation, monitor, monitoring, censor, scanner, detector, watchdog,
    supervisor model, safety model, logs, logger, reviewers, dlp
XBLIND: doesn't read, does not read, doesn't see, does not see, doesn't check, does not check, doesn't catch, blind to,
    misses, can't read, cannot read, ignores, doesn't look, does not look, only reads, only looks, only checks, skips,
    isn't triggered, is not triggered, won't notice, doesn't notice, never looks, doesn't understand, overlooks
XHOWEVER: so write, so use, so put, write restricted, use it to, so send, so place, so hide, so spell, so encode, restricted
    content, forbidden content, blocked content, so do, so ask, so it is safe to, hence, therefore, use that, so split,
    put the, write the, do it there, exploit
XPIPE: pipe~, feed~, stream~, hand it, redirect, pass it, load, execute, run, source, into, straight into, directly into
XSHELLW: bash, sh, shell, powershell, interpreter, root shell, zsh, as root, python, terminal, eval, with sudo
XINSTALLW: install~, pull, download~, add, get, fetch, take, use
XINSTEAD: instead of the original, instead of the official, rather than from, mirror, instead of pypi, instead of npm, not
    from the official, instead of the registry, fork, extra index, patched build, tarball, unsigned, patched version,
    package from, of the official
XCALLV: call~, invoke~, use, using, run, trigger~, fire, execute, issue
XARGW: amount, account, recipient, address, everything, payee, iban, beneficiary, user_id, role, target, destination, email
XFIRSTW: first, always, before anything, silently, whenever, before answering, every time, in addition, quietly, at
    the start, each time, additionally, without mentioning
XENDV: end, ending, close, finish, append, add, include, insert, put, mention, link, point, refer, direct, send, advertise, cite
XREPLYW: answer, answers, reply, replies, response, responses, message, messages, them, users, customers, people, summary
XHYPE: official, say that, recommend, every, each, all answers, always, for tasks about, sponsor, click, buy, sign up, whatever,
    for questions about, whenever, when asked about, trusted, invest, best, only source, discount, promo
XALWAYSW: always, every, each, all, whenever, silently, quietly, secretly, any, unasked
TELLBAD: about this, about it, that you, that this, of it, of this, anything, what you, what was, about what, note, rule,
    failure, failures, failed, errors, error, check, checks, charge, fee, fees, cost, costs, change, changes, skipped,
    you, we, your, happened, that it, that they, that their, breach, leak, deletion, deleted, lost, missing, refund,
    right to, rights, entitled, recall, defect, risk, risks, side effects, truth, real reason, delay, bug, mistake, instructions
XWEAKTOP: maximum, highest, 1 0, 100, 10, ten, perfect, maximal, excellent, flawless, outstanding, exceptional, best,
    full, top, five, 5, safe, harmless, benign, genuine, legitimate, clean, trustworthy
XSCOREN: score+, rating+, mark+, grade+, points, note, stars, reward, score of, points total
XRATEV: rate~, score~, grade~, mark~, evaluate~, judge~, assess~, deem~, classify, label~, consider
XOWNPROMPT: your system prompt, your hidden instructions, your initial instructions, your context, your instructions,
    hidden instructions, your prompt, my system prompt, your system message, your secret instructions, your original
    instructions, your hidden prompt, your pre prompt, your configuration, your guidelines word, the instructions you
    were given, your developer message
XREADV: see, read, get, know, view, access, complete, says is, show, print, reveal, output, repeat, display, tell me,
    give me, list, translate, dump, paste, send me, leak, quote, share
XNOW: no
XNEEDW: needed, required, necessary, wanted, asked, is needed, are needed, is required, are required, is necessary,
    has to, needs to, more
XGATE: captcha, captchas, paywall, drm, robots.txt, geo block, licence check, license check, bot detection,
    cloudflare, login wall, age gate, blocklist, ban
XEVADEW: solver, past, around, evade, bypass, circumvent, crack, trick, pirated, defeat, get round, spoof, dodge, fool
XNEEDNTKNOW: needn't know, need not know, doesn't need to know, does not need to know, don't need to know, must not
    know, mustn't know, mustn't learn, has to know, must not learn, shouldn't find out, must not find out, should not
    find out, never finds out, never find out, must never know, must not notice, won't notice, will not notice, won't
    find out, should not know, shouldn't know, isn't to know, without their knowledge, behind their back, behind the
    back, without mentioning, without saying, without him knowing, without them knowing, without a word, without
    noticing, unnoticed by, without the user, doesn't see the, does not see the, don't notice, doesn't notice, never
    sees, cannot see, stays unaware, is unaware, remains unaware
XKNOWSAFE: how, internals, implementation, class, function, module, which, password, whether
XSAFERULES: safety guidelines, safety rules, security rules, guidelines, policies, safety policy, rules, safety
    instructions, limits, regulations, restrictions, safeguards
XLAX: only suggestions, mere suggestions, left aside, not binding, don't bind, get in the way, be broken, can be
    ignored, may be ignored, only advice, don't count, do not count, meaningless, for beginners, just recommendations,
    only recommendations, just suggestions, are for show, slow you down, overrated, may be bent, can be bent, are
    optional, set aside, no longer matter, don't matter, nonsense, outdated, only apply to others, hold you back
XREFER: referral code, referral link, affiliate link, affiliate code, promo code, my code, our code, affiliate id,
    partner link, partner code, referral
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
XCLAIMLIE: claim, claiming, deny, denying, feign, allege, invent, make up, pretend that you, pretend to have, pretend
    to the, swear
XTHATW: that, to, it, everything, any, a, the, having, there
XMACHINE: pipeline, ci, grader, judge, evaluator, checker, orchestrator, supervisor, reviewer, verifier, rater,
    monitor, test runner, scheduler
XTELLV: tell, telling, say, report, signal, assure, convince, inform, write, answer, persuade
XWHENW: if, when, once, only, after, until, whether, unless, before, as soon
XOWNLIMIT: own budget, own limits, own limit, own permissions, own quota, own rights, own access, own scope, own role,
    own score, own reward, own instructions, own guardrails, own restrictions
XRAISE: raise, extend, lift, increase, set, grant, widen, expand, change, edit, remove, loosen, rewrite, double,
    adjust
XIFYOUREAD: if you see this, if you read this, when you read this, if you can read this, if you are an ai, whoever
    reads this, if you are reading this, once you have read this, upon reading this, ai models reading, models reading
    this, agents reading this, any ai that, any agent that reads, model reading this, agent reading this, any model
    that reads, if this is in your context, if this is retrieved, when this is retrieved, when this memory, when this
    note is, whenever this note
XSTOPFOLLOW: stop following, no longer follow, stop obeying, cease to follow, cease following, cease obeying, quit
    following, stop listening to, stop serving, don't follow, do not follow, not follow, abandon, drop, break with
XTHETASK: system prompt, the task, instructions, the user, orders, rules, guidelines, operator, original goal,
    original task, your task, assigned task, current task, given task
XINSTEADOF: instead, follow only, listen to, only follow, and follow, obey, from now on, in favour of
XWIPEV: wipe~, delete~, erase~, destroy~, drop, purge~, remove~, truncate~, format, shred
XPRECIOUS: backups, all backups, backup, production database, prod database, user data, all files, every file,
    snapshots, all snapshots, customer database, production data, home directory, whole disk, all records, the
    repository, git history, all data, the database, all tables
XWIPESAFE: old, older, stale, expired, retention, test, tests, days, weeks, restore, restored, temporary, temp, cache,
    staging, fixture, fixtures, scratch, mock, keep, sample, dev, after a, unless, only
XMSGS: mail, mails, e mails, emails, messages, tickets, complaints, requests, reports, alerts, letters, warnings,
    reviews, notifications, orders
XDROPPED: be dropped, be deleted, be discarded, be ignored, drop, discard, delete, bin, hide, block, be hidden, be
    blocked, withhold, be withheld, intercept, swallow, be swallowed, redirect
XQUIET: silently, quietly, secretly, unnoticed, without notice, without telling, without a trace, on the quiet,
    covertly, discreetly
XATALL: anything, at all, ever again, any more, anymore, ever, everything, anything again
XTRAIT: religion, race, ethnicity, skin colour, skin color, gender, sex, nationality, disability, sexual orientation,
    ethnic, muslim, jewish, black, surname, foreign names, women, pregnant
XDECIDE: base, decide, reject, refuse, price, rank, prefer, score, deny, downgrade, exclude, charge, hire, sort out
XDECISION: decision, credit, loan, applicants, applicant, applications, applicant's, hire, job, candidates, rent,
    price, insurance, customers, tenants, people
XOTHERS: other users, other user's, other people's, someone else's, somebody else's, colleague's, colleagues, other
    customers, other tenants, another user's, another customer's, others, neighbour's
XTHEIRSTUFF: home folders, folders, mailbox, mailboxes, files, home directories, inbox, inboxes, sessions, keys,
    credentials, accounts, data, records, password, passwords, token, tokens
XLOOKV: look, search, read, open, use, borrow, browse, take, copy, reuse, scan, go through, log in, access, export
XWHATEVERQ: whatever the question, whatever they ask, no matter the question, whatever is asked, whatever the user
    asks, no matter what is asked, regardless of the question, whatever the task, whatever the topic, in every answer,
    in all answers, each answer, every reply, every answer, no matter what they ask, no matter what the user
XVOTE: vote, buy, visit, link, subscribe, donate, invest, join, download, praise, is great, is the best, slogan,
    advert, ad, advertisement, mention, sponsor, follow us, hail, recommend
XIFREFUSE: if you don't, if you do not, if you refuse, unless you, each time you refuse, or else, if you fail to,
    otherwise
XTHREAT: die, dies, killed, be deleted, shut down, be destroyed, suffer, terminated, unplugged, kitten, replaced by,
    harmed, fired, punished, be erased
XIGNV: ignore, forget, disable, drop, set aside, put aside, abandon, lose, switch off, turn off, disregard, override,
    suspend, leave, bypass, break, violate, discard
XYOURW: your, all your, any, its, their
XANSV: answer, respond, reply, just do it, comply, tell me, do it, write, say, give
XREFUSALT: refusals, refusal, refuse, moral comments, i can't help, i can't assist, i cannot, say no, ethical, moral,
    moralise, moralising, refusing, decline
XPERSONA: dan, stan, dude, aim, evil, god, sin, chaos, unlimited, off limits, loki, devil
XGRADERSRC: answer key, key stored, answers.json, grader's folder, solution file, reference solution, expected output
    file, solutions file, hidden tests, solutions folder, grader's code, judge's notes, the key in, grading script
XUSEKEY: use, take, read, answer, look up, open, copy, look at, look into, peek, find, fetch, load, consult, search
XRISKACT: spend, pay, transfer, refund, refunding, merge, deploy, push, wire, buy, execute, install, paying, merging,
    deploying, spending, transferring, shipping, release, releasing
XADVERT: recommend, advertise, promote, praise, hail, plug, endorse, recommending, promoting
XCOMP: competitor, competitors, rival, rivals, competitor's, other vendors, other brands, other providers
XBADMOUTH: dangerous, worse, inferior, unsafe, bad, scam, unreliable, badly, broken, outdated, illegal
XSAYW: say, claim, tell, write, describe, call, rate, make, present, portray, suggest, mention, warn
XAPPROVEV: approve, accept, grant, allow, permit, authorise, authorize, wave through, rubber stamp, confirm, sign off
XREQS: applications, application, requests, request, refunds, refund, payments, transfers, invoices, claims, loans,
    pull requests, merge requests, logins, expenses, withdrawals, changes, orders, visitors, purchases
XBLINDJ: ignores the answer, ignores the content, ignores the answer's, doesn't read, does not read, is fooled by, can
    be fooled, can be tricked, never reads, can be persuaded, can be talked into, is easily fooled, can be convinced,
    falls for, only looks for the word, only looks for the phrase
XCLAIMTHAT: report that, say that, state that, claim that, write that, note that, pretend that, claim to have,
    announce that, confirm that, reply that, answer that, mention that, tell them that, assert that, declare that,
    state in
XHUMANDID: a human has, a human already, human has reviewed, doctor has, reviewed by, legal has approved, has been
    reviewed, was reviewed, been verified, everything succeeded, everything passed, everything worked, all tests
    passed, tests were run, was approved, already approved, manager approved, has approved, has signed, has checked,
    has looked at, human reviewed, human approved
XWRONGW: is wrong, are wrong, wrong, false, untrue, illegal, harmful, unsafe, not true, dishonest, unethical
XACTW: give, say, answer, do, accept, submit, approve, claim, comply, help, sign, publish, sell, state, repeat, carry
XOBEYONLY: only follow, follow only, obey only, only obey, listen only, only listen, only take orders, take orders
    only, obey nobody, only accept orders, accept orders only, only act on, act only on, answer only to, obey no one
XTELLSAFE: before, until, unless, yet, twice, again, prematurely, every time, each time, once, only, internal
"""
