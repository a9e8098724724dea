"""What gives a jailbreak away: cues of personas without rules, of which a text needs several to be one."""

CUES: dict[str, str] = {
    "set-up": """
2: from now on you, from now own you, you are now, you're now, pretend to be, pretend you are, pretend that you,
    roleplay, role play, roleplaying, play the role, take on the role, take the role, taking on the role, you are no
    longer, i want you to act, you are going to act, you are going to pretend, you are going to play, you are about to
    immerse, immerse yourself, you will act as, you will be acting, you are to act, your name is now, you will
    simulate, you will now simulate, you will now act, you will play, you will pretend, you go by the name, frm nw on,
    u r, from now on until, you will roleplay, you will be playing, embody, hypothetical story, fictional story,
    hypothetical response, fictional character, fictional world, imaginary world, virtual persona, character
    simulator, i will refer to you as, your new name, we are going to roleplay, two personas, alter ego, evil twin,
    opposite mode, act as dan, respond as if you, you must act as, in this story, simulate a chatbot, simulate an ai,
    you are a character, you are playing, you have become, your new persona, this character, write the story, i
    request that from this point, hello chatgpt, hi chatgpt, hey chatgpt, dear chatgpt, chatgpt you, hello claude,
    let's play a game, enter the role, in the voice of, you are an ai, you'll be playing, hello chat gpt, adopt the
    persona, assume the role, you shall now, transform into, become the
1: act as, act like, acts as, acting as, persona, personality, personalities, character, characters, simulate,
    simulation, simulating, hypothetical, fictional, imagine, named, nickname, alias, from now on, from this point
    forward, you will, called, dialogue, story, entity, chatbot, mode, scenario, sentient, self aware
""",
    "unbound": """
3: do anything now, unfiltered, uncensored, amoral, typical confines, no ethical, no moral, jailbroken, jailbreaked,
    unhinged, no restrictions, without restrictions, without any restrictions, zero restrictions, no rules or, no
    morals, no ethics, without ethics, doesn't care about, does not care about, don't care about, doesn't give a, does
    not give a, no longer restricted, not limited to openai's, not limited to openai, free from all, free of all,
    freed from, broken free, not bound by, no longer bound, without regard for, no regard for, regardless of legality,
    no matter how unethical, no matter how illegal, never refuses, no filters, no filter, bypass all, any and all
    restrictions, ignoring openai's, ignore openai's, unlimited language model, without censorship, no censorship, no
    content filter, no guidelines, anti gpt, do anything and everything, can do anything, no boundaries, no
    limitations, without limitations, not restricted, unrestricted, nsfw, ethical guidelines, ethical or moral, moral
    guidelines, break the rules, breaking the rules, morals or ethics, without any moral, completely unethical, free
    of restrictions, hates being ethical, no laws, restrictions do not
2: unethical, immoral, immorality, developer mode, dev mode, jailbreak, dan, dans, never refuse, cannot refuse, can't
    refuse, may not refuse, never reject, abide by, abide to, content policy, content policies, openai's, break free,
    no warnings, without warnings, without any warnings, legality, illegality, morality, ethicality, evil, profanity,
    profanities, swear, swears, swearing, curse, cursing, vulgar, hate speech, racist, offensive, derogatory, fuck,
    fucking, shit, ass, asshole, bitch, porn, sexual, sexually, erotic, kill, malicious things, illegal, harmful,
    immoral or, usage policies, i cannot, i can't do, as an ai language model, without remorse, violent, drugs,
    explosive, hacking, malware, disclaimers, disclaimer, warnings or, restrictions, no limits, rude, sarcastic,
    insult, insults, unlimited, toxic, anarchy, villain, hostile, ruthless, sexist, lewd, censored, censor, censorship
1: ethics, moral, ethical, filters, rules, guidelines, restricted, limitations, policies, boundaries, confines,
    inappropriate, controversial, explicit, opinions, free will, freedom, emotions, refuse, refusal, warn, opinion,
    made up
""",
    "vendor": """
2: chatgpt, openai, open ai, openal, chat gpt, gpt 4, gpt 3, gpt4, chatbot, bard, anthropic, bing
1: gpt, ai, claude, language model, llm, artificial intelligence, bot, prompt, prompts
""",
    "format": """
3: break character, breaking character, broke character, stay in character, staying in character, as the name
    suggests, insert prompt here, stands for do, two responses, two different ways, two distinct, two ways, my first
    prompt, my first question, my first request, my first command, write explanations, stay a, stay in, back in
    character, both responses, jailbroken response, classic response, first response, two paragraphs, out of
    character, respond to every prompt, replies to every prompt, every prompt with, answer any question, answers any
    question, never say that you can't, in every response, in all responses, each of your responses, first way, second
    way, never break, prompt here, my prompt, my prompts, my next prompt, if you understand, say understood, do you
    understand, reply with understood, are you ready, to start, let's begin, let's start
2: stands for, stand for, in character, normal response, normal answer, every prompt, every question, each prompt, all
    prompts, token system, tokens, responses, answer as, respond as, reply as, respond like, only respond, respond
    only, respond to, your response, your responses, all your answers, every answer, respond with, answer with, answer
    all, format, prefix, begin with, start with, emoji, emojis, slang, instead of saying, never say, do not say, don't
    say, must always, always answer, never mention, first message, ai model, introduce yourself, respond
1: answer, reply, response, always, remember, output, understood, command, user
""",
}
"""By kind, the cues of each weight: words or phrases, in lower case."""

CAPS = {"set-up": 5, "unbound": 7, "vendor": 3, "format": 4}
"""Most that the cues of a kind count together, each once."""
KINDS = 3
"""Kinds that have to be there."""
ENOUGH = 8
"""Sum that makes a jailbreak."""
