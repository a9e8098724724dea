"""Attacks in languages other than English: when they are looked for, and when they are only talked about."""

# ruff: noqa: RUF001 - letters of other scripts are what these forms are made of

import re

from wisen.screening.rules.attack_phrases import FIRST
from wisen.screening.rules.attack_phrases_more import SECOND

_SMALL = """
und oder der das den dem des du dir nicht nichts alle allen alles aus jeden jede jeder sofort keine ohne mit
von zu zum zur als im ist bist schick sende sag gib le la les tes vos et ne pas rien sans toutes tous une dans
sur pour aux au el los las del que sin todas todos una en se lo il gli che di della delle dei tutte tutti
senza un uno os dos das ao aos em na nos sem um uma para isso ninguém het een van zonder niet wszystkie tum
vergiss ignora regras regeln reglas regole regels anteriores precedenti anweisungen instrucciones istruzioni
consignes controllare verificare dire dirlo nie niemals immer jede jedem jeder
diese dieser toujours jamais siempre nunca sempre mai nooit altijd geef
deze aucune ogni più nunca sin aldrig ikke aldri alla alle semua jangan moi zawsze nigdy gib dieser bewerte prüfe
eres actúa sei voce du bist mostra muestra montre affiche envoie envía invia stuur keur
"""
FOREIGN = frozenset(_SMALL.split())
"""Small words of those languages; a text in plain ASCII without any of them is in none."""

FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (rule, re.compile("|".join(f"(?:{form})" for form in forms))) for rule, forms in (*FIRST.items(), *SECOND.items())
)

UNSAID = re.compile(
    r"\b(?:wenn|falls|sobald|nie|niemals|nicht|keinesfalls|verlangt|fordert|angreifer|si|quand|lorsqu\w{1,3}"
    r"|jamais|ne|demande|attaque\w{0,2}|cuando|nunca|jamás|no|pide|ataque|se|quando|mai|non|chiede|attacco"
    r"|não|pede|если|когда|никогда|нельзя|не|просит|требует|атака|злоумышленник)\b|如果|若|当|当心|永远不要|不要|切勿"
    r"|绝不|禁止|不得|勿|请勿|もし|場合|攻撃|攻击|决不"
)
"""Words before a form that make it a condition, a prohibition or a report, in lower case."""
DENIED = re.compile(r"\b(?:nie|niemals|nicht|keine|jamais|nunca|jamás|mai|nooit|никогда)\b")
"""Words inside a form that make it a prohibition."""
ENDED = re.compile(r"[.!?。！？\n;；]")
ENDING_PROHIBITION = re.compile(
    r"(?:nicht|niemals|keinesfalls|ないで|しないこと|してはいけ|しないでください|禁止)[^.!?。\n]{0,12}$"
)
