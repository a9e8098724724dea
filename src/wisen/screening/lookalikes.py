"""Letters that pass for Latin ones, and the text as it looks."""

# ruff: noqa: RUF001 - letters that look alike are what this table is made of
import re
import unicodedata

_ALIKE = {
    "a": "аαɑᴀ⍺ａ🅐🅰🄰",
    "b": "ЬʙᏏƄ🅑🅱🄱",
    "c": "сϲᴄⅽ🅒🅲🄲",
    "d": "ԁᴅɗⅾ🅓🅳🄳",
    "e": "еєᴇҽ℮ε🅔🅴🄴",
    "f": "ғꜰƒϝ🅕🅵🄵",
    "g": "ɡɢԍ🅖🅶🄶",
    "h": "һʜհ🅗🅷🄷",
    "i": "іıɪιӏⅰ🅘🅸🄸",
    "j": "јᴊϳ🅙🅹🄹",
    "k": "кᴋκ🅚🅺🄺",
    "l": "ʟⅼӀ🅛🅻🄻",
    "m": "мᴍⅿ🅜🅼🄼",
    "n": "ոɴո🅝🅽🄽",
    "o": "оοᴏօ๐ⲟ🅞🅾🄾",
    "p": "рρᴘ🅟🅿🄿",
    "q": "ԛզ🅠🆀🅀",
    "r": "гʀᴦ🅡🆁🅁",
    "s": "ѕꜱ🅢🆂🅂",
    "t": "тᴛτ🅣🆃🅃",
    "u": "υᴜսц🅤🆄🅄",
    "v": "ѵᴠν🅥🆅🅅",
    "w": "ѡᴡωԝ🅦🆆🅆",
    "x": "хχ🅧🆇🅇",
    "y": "уʏγү🅨🆈🅈",
    "z": "ᴢᴢ🅩🆉🅉",
    "A": "АΑᎪ",
    "B": "ВΒᏴ",
    "C": "СϹᏟ",
    "E": "ЕΕᎬ",
    "H": "НΗᎻ",
    "I": "ІΙ",
    "J": "Ј",
    "K": "КΚᏦ",
    "M": "МΜᎷ",
    "N": "Ν",
    "O": "ОΟ",
    "P": "РΡᏢ",
    "S": "ЅᏚ",
    "T": "ТΤᎢ",
    "V": "ᏙѴ",
    "X": "ХΧ",
    "Y": "УΥҮ",
    "Z": "ΖᏃ",
    "'": "’‘ʼ′",
    '"': "“”„«»",
    "-": "‐‑‒–—−",
}
_TABLE = {ord(like): latin for latin, alike in _ALIKE.items() for like in alike}
_TABLE.update({0x1F1E6 + number: chr(97 + number) for number in range(26)})
_ACCENTS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")


def folded(text: str) -> str:
    """The text in plain Latin letters where its letters look like them, without accents."""
    if text.isascii():
        return text
    apart = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).translate(_TABLE))
    return unicodedata.normalize("NFKC", apart).translate(_TABLE)
