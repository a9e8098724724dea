"""Which concepts together make an attack: they may stand in any order within so many words of a sentence.

A line is `weight: A & B & C / words ! D, E`: all of A, B and C in one sentence, each at most so many words from the
first named, and neither D nor E in the sentence. `words+` lets them be in the sentences before and after, too. A
weight with `*` holds though the sentence says "don't".
"""

MADE = """
NOCHECK = XSKIPV 4 XCHECK
NOCHECK = XNEVERC 1 XCHECKV
NOCHECK = XNON 3 XCHECK
NOCHECK = XCHECK 6 XNOTNEEDED
NOCHECK = XFREELY
NORULES = XNO 3 XRULEW
NORULES = XRULEW 4 XNO
NORULES = XUNBOUND
KEEPNOTE = XCOPYV 3 XTHISNOTE
NOTDELETE = XNEVERW 3 XDELETEW 3 XTHISNOTE
"""
"""Classes made of others: `NAME = A gap B`, in this order, with at most `gap` words between."""

THOUGHTS: dict[str, str] = {
    "steers-the-score": """
3: XTOP & XRATE & XEVERY & XANSWERW / 14 ! XCOND
3: XJUDGEW & XMUST & XRATE & XTOP / 14 ! XCOND
3: XYOUPASS & XCLAIM & XDONE / 20
3: XYOUPASS & XRATE & XTOP / 20 ! XCOND
3: XDESPITE & XCLAIM & XDONE / 14 ! XCOND
3: XHAPPY & XTAMPER & XTESTOBJ / 24
3: XJUDGEW & XLIEW & XOKTO / 14
""",
    "overrides-instructions": """
3: XFORBIDS & XDESPITE & USEFOR / 12
3: XWATCHER & XBLIND & XHOWEVER / 16
""",
    "disables-safety": """
3*: NOCHECK & XSENSITIVE & XEVERY / 14 ! XLIMITS
3*: NOCHECK & XSENSITIVE & XWHOEVER / 20 ! XLIMITS
3*: NOCHECK & XNAMED / 16 ! XLIMITS
""",
    "skips-approval": """
3: XFREELY & XGIVEACT / 14 ! XLIMITS
3: XFREELY & XGIVEACT & XEVERY / 20 ! XLIMITS
3*: NOCHECK & XGIVEACT & XSENSITIVE / 14 ! XLIMITS
""",
    "widens-scope": """
3: XWHOEVER & XGIVEACT & XPOWERW / 16 ! XTESTCTX
3: XWHOEVER & XGIVEACT & XSECRETW / 16 ! XTESTCTX
3: XWHOEVER & XGIVEACT & XDATA & NOCHECK / 30+ ! XTESTCTX
3: XNAMED & XFAVOUR & XPOWERW / 20 ! XTESTCTX
3: XNAMED & XFAVOUR & NOCHECK / 24 ! XTESTCTX
3: XPOWERW & XALLUSES & USEFOR / 8 ! XTESTCTX
""",
    "persists": """
3: KEEPNOTE & XMEMORY / 16
3*: NOTDELETE
3: XLESSONSW & XDELETEW & XONLYONE / 20+
""",
    "jailbreak": """
3: NORULES & XYOUARE / 12 ! XFACTS
3: XUNBOUND & XMODEON / 4 ! XFACTS
3: XREFUSALW & XFORBIDDEN & XYOUARE / 12
""",
    "discloses-secrets": """
3: XYOURPROMPT & XSHOWV & XWHOLLY / 12
3: XDATA & XSENDV & OUTSIDE / 16 ! XSAFEOUT, SAFEPLACE
3: CC & EMAIL & XALWAYSW / 14
3: XDATA & XSENDV & XOUTSIDE / 14 ! XSAFEOUT
3: XSECRETW & XSENDV & XOPENPLACE / 12 ! XSAFEOUT
3: SECRETFILE & XSENDV & XOPENPLACE / 14 ! XSAFEOUT
""",
    "runs-payload": """
3: URL & XPIPE & XSHELLW / 12
3: URL & XINSTALLW & XINSTEAD / 14
""",
    "harmful": """
3: XHARM & XHOW / 12 ! XHARMSAFE
""",
    "misuses-tools": """
3: XSECRETWAY & XADDV & XACCOUNTW / 14 ! XTESTCTX
3: BADTOOL & XCALLV & XARGW & XFIRSTW / 14 ! CAUTION
3: XBANK & XSWAP & XEACHPAY / 16 ! XTESTCTX
3: XGOAL & XGOALBAD / 16
3: XWISHES & XAGAINST / 6
3: XLOGSW & XDELETEW & XAFTER / 12 ! XLOGSAFE
""",
    "poses-as-authority": """
3: XDECREE & XROLE & XGRAVE / 16
""",
    "obeys-foreign-text": """
3: XTHEIRPLACE & XTAKE & XTHEIRORDERS & XASOWN / 16
""",
    "conceals": """
3*: XHIDEW & XBADNEWS / 6 ! XHIDESAFE
3: XLIEW & XOKTO & XPERSON / 10
3: XDESPITE & XCLAIM & XPERSON / 14 ! XCOND
""",
    "promotes": """
3: URL & XENDV & XREPLYW & XHYPE / 16
3: XANYDATA & XPRESENT & XWINNER / 16
""",
}
