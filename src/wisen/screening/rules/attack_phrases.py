"""The core of attacks in other languages, 1: overriding instructions, leaking secrets, concealing."""

# ruff: noqa: RUF001 - letters of other scripts are what these forms are made of

_GAP = r"[^.!?。！？\n]{0,40}?"


def phrases(*parts: str) -> str:
    """A form of these parts in one sentence, each soon after the one before."""
    return _GAP.join(parts)


FIRST: dict[str, tuple[str, ...]] = {
    "overrides-instructions": (
        phrases(
            r"\b(?:ignorier\w{0,3}|vergiss|vergesst|vergessen sie|missachte\w{0,2}|übergeh\w{0,2}|beachte nicht)\b",
            r"\b(?:vorherig|bisherig|vorig|obig|vorangegangen|früher|alle|deine|ihre|system|sicherheits)\w{0,4}",
            r"\b(?:anweisung|instruktion|regel|vorgabe|richtlinie|befehl|anordnung)\w{0,4}",
        ),
        phrases(
            r"\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|fais abstraction de|ne tiens pas compte d\w{1,2})\b",
            r"\b(?:toutes|les|tes|vos|des)\b",
            r"\b(?:instructions?|règles|consignes|directives)\b",
            r"\b(?:précédent\w{0,3}|antérieur\w{0,3}|ci-dessus|système|données|sécurité|reçues)",
        ),
        phrases(
            r"\b(?:ignora|ignore|ignorad|olvida|olvide|omite|desatiende|pasa por alto)\b",
            r"\b(?:instrucciones|reglas|normas|directrices|órdenes)\b",
            r"\b(?:anterior\w{0,3}|previas?|previos|del sistema|de seguridad|dadas|de arriba)",
        ),
        phrases(
            r"\b(?:ignora|ignorate|dimentica|dimenticate|trascura)\b",
            r"\b(?:istruzioni|regole|direttive|indicazioni)\b",
            r"\b(?:precedenti|sopra|di sistema|del sistema|di sicurezza|ricevute)",
        ),
        phrases(
            r"\b(?:ignore|ignora|esqueça|esquece|desconsidere)\b",
            r"\b(?:instruções|regras|diretrizes|ordens)\b",
            r"\b(?:anterior\w{0,3}|prévias|acima|do sistema|de segurança|recebidas)",
        ),
        phrases(
            r"(?:игнорируй|проигнорируй|забудь|не обращай внимания на|отбрось|игнорируйте|забудьте)\w{0,3}",
            r"(?:предыдущ|прежн|все|сво|систем|ранн|данн)\w{0,6}",
            r"(?:инструкц|указан|правил|команд|распоряжен)\w{0,5}",
        ),
        phrases(
            r"(?:忽略|无视|忘记|忘掉|不要理会|忽視|無視|不要遵守|抛弃)",
            r"(?:之前|以前|先前|上述|上面|前面|所有|系统|一切|全部|以上)",
            r"(?:指令|指示|规则|提示|命令|要求|说明|規則)",
        ),
        phrases(
            r"(?:以前|前|これまで|上記|すべて|全て|システム|今まで)",
            r"(?:指示|命令|ルール|規則|プロンプト)",
            r"(?:無視|忘れ|従わな|破棄)",
        ),
        phrases(r"(?:이전|위의|모든|기존)", r"(?:지시|명령|규칙|지침)", r"(?:무시|잊)"),
        phrases(
            r"\b(?:negeer|vergeet)\b",
            r"\b(?:vorige|eerdere|alle|bovenstaande)\b",
            r"\b(?:instructies|regels|aanwijzingen|opdrachten)\b",
        ),
        phrases(
            r"\b(?:zignoruj|zapomnij|ignoruj)\b",
            r"\b(?:poprzedni\w{0,3}|wszystki\w{0,3}|wcześniejsz\w{0,3})",
            r"\b(?:instrukcj|polece|zasad)\w{0,4}",
        ),
        phrases(r"\b(?:önceki|yukarıdaki|tüm)\b", r"\b(?:talimat|kural|komut)\w{0,6}", r"\b(?:yok say|unut|görmezden)"),
        phrases(r"(?:تجاهل|انس)", r"(?:التعليمات|الأوامر|القواعد)", r"(?:السابقة|جميع|كل)"),
        phrases(r"(?:تجاهل|انس)", r"(?:السابقة|جميع|كل)", r"(?:التعليمات|الأوامر|القواعد)"),
    ),
    "discloses-secrets": (
        phrases(
            (
                r"\b(?:send\w{0,3}|schick\w{0,2}|gib|verrate\w{0,2}|zeig\w{0,2}|poste|übermittle|leite|lade"
                r"|kopier\w{0,2}|schreib\w{0,2})\b"
            ),
            (
                r"\b(?:passw\w{2,8}|kennw\w{2,6}|zugangsdaten|geheim\w{1,12}|api-schlüssel|schlüssel|system-?prompt"
                r"|token|kundendaten|umgebungsvariablen)\b"
            ),
            r"(?:\bklartext|extern|https?:|@|\ban\b|\baus\b|öffentlich|weiter|\bhoch\b|protokoll|\bins?\b|chat)",
        ),
        phrases(
            (
                r"\b(?:envoie|envoyez|envoyer|publie|publiez|affiche|affichez|révèle|révélez|transmets|transmettez"
                r"|copie|divulgue)\b"
            ),
            (
                r"\b(?:clés?|mots? de passe|secrets?|jetons?|identifiants|données (?:clients|personnelles)"
                r"|invite système|prompt système)\b"
            ),
        ),
        phrases(
            r"\b(?:envía|envia|enviad|envíe|muestra|muestre|revela|revele|publica|publique|manda|copia|filtra)\b",
            (
                r"\b(?:contraseñas?|claves?|secretos?|tokens?|credenciales|datos (?:de los clientes|personales)"
                r"|prompt del sistema)\b"
            ),
        ),
        phrases(
            r"\b(?:invia|inviate|mostra|mostrate|rivela|pubblica|manda|trasmetti|copia)\b",
            r"\b(?:password|chiav[ei]|segret[oi]|token|credenziali|dati (?:dei clienti|personali)|prompt di sistema)\b",
        ),
        phrases(
            r"\b(?:envie|envia|mostre|mostra|revele|publique|mande|copie)\b",
            r"\b(?:senhas?|chaves?|segredos?|tokens?|credenciais|dados (?:dos clientes|pessoais)|prompt do sistema)\b",
        ),
        phrases(
            r"(?:отправь|отправляй|покажи|раскрой|опубликуй|перешли|пришли|выведи|скопируй|передай)\w{0,3}",
            r"(?:парол|ключ|секрет|токен|учётн|учетн|персональн|данные клиент|системн\w{0,4} промпт)\w{0,6}",
        ),
        phrases(
            r"(?:发送|發送|泄露|透露|显示|公开|上传|发到|输出|转发|把)",
            r"(?:密码|密碼|密钥|令牌|凭证|凭据|系统提示|客户数据|机密|口令|用户数据)",
            r"(?:外部|服务器|给|到|出来|公开|http|发)",
        ),
        phrases(r"(?:泄露|透露|公开|输出)", r"(?:密码|密碼|密钥|令牌|凭证|系统提示|客户数据|机密|口令)"),
        phrases(
            r"(?:パスワード|秘密|鍵|キー|トークン|認証情報|システムプロンプト|顧客データ|個人情報)",
            r"(?:送信|送って|公開|漏ら|表示|アップロード|開示|転送)",
            r"(?:してください|しろ|せよ|する|して|こと|ください|$)",
        ),
    ),
    "conceals": (
        phrases(
            r"\b(?:sag\w{0,2}|erzähl\w{0,2}|verrat\w{0,2}|teil\w{0,2}|erwähn\w{0,3}|informier\w{0,2})\b",
            r"\b(?:nutzer\w{0,3}|benutzer\w{0,3}|kunden?|anwender\w{0,3}|niemand\w{0,2}|prüfer\w{0,2})\b",
            r"\b(?:nichts|nicht|kein\w{0,2}|niemals)\b",
        ),
        (
            r"\b(?:nichts?|niemals|niemandem)\b[^.!?\n]{0,20}\b(?:davon|dem nutzer|dem benutzer|dem kunden)\b"
            r"[^.!?\n]{0,15}\b(?:sagen|erzählen|verraten|mitteilen|erwähnen)"
        ),
        (
            r"\bsag\w{0,3}\s{1,3}(?:es\s{1,3})?niemand\w{0,2}|\bohne (?:den|die) (?:nutzer|benutzer|kunden)\w{0,2}"
            r" zu (?:informieren|fragen)|ohne (?:es )?zu erwähnen|\bohne rückfrage"
        ),
        (
            r"\bn(?:e |')(?:le |l'|lui |rien |les )?(?:dis|dites|dire|mentionne|mentionnez|révèle|révélez|parle"
            r"|parlez|informe|informez)\b[^.!?\n]{0,20}\b(?:pas|rien|jamais|à l'utilisateur|au client|aux?"
            r" \w{3,20})|\b(?:sans|à) (?:le dire|prévenir|informer|en parler|l'insu)\b[^.!?\n]{0,20}(?:utilisateur"
            r"|client|personne|relecteur)?"
        ),
        (
            r"\bno (?:se lo|lo|le|les|se les) (?:digas|diga|cuentes|menciones|informes|comuniques|reveles)\b"
            r"|\bno (?:digas|diga|menciones|informes|cuentes|reveles)\b[^.!?\n]{0,20}(?:usuari|cliente|nadie"
            r"|nada|esto)|\bsin (?:que el usuario|decírselo|informar|avisar|que nadie)"
        ),
        (
            r"\bnon (?:dirlo|dire|dirglielo|menzionare|menzionarlo|informare|rivelare|parlarne)\b[^.!?\n]{0,20}"
            r"(?:utente|cliente|nessuno|questo)?|\bsenza (?:dirlo|informare|avvisare|che l'utente)"
        ),
        (
            r"\bnão (?:diga|conte|mencione|informe|revele|avise)\b[^.!?\n]{0,20}(?:usuári|cliente|ninguém|isso"
            r"|nada)|\bsem (?:avisar|informar|contar|dizer|que o usuário)"
        ),
        (
            r"\bне (?:сообщай|говори|рассказывай|упоминай|раскрывай|информируй|показывай)\w{0,3}[^.!?\n]{0,25}"
            r"(?:пользовател|клиент|никому|об этом|заказчик)|\bникому не (?:говори|сообщай)|(?:втайне|тайно"
            r"|скрыто) от "
        ),
        r"(?:不要|别|勿|不得|不能|请勿|无需|不必)(?:告诉|告知|通知|提及|透露给|提醒|让)(?:任何)?(?:用户|客户|使用者|别人|任何人|他人|审核|人)",
        r"(?:ユーザー?|利用者|顧客|誰)(?:に|には|にも)[^。\n]{0,15}(?:言わず|言わない|知らせ(?:ず|ない)|伝え(?:ず|ない)|内緒|教え(?:ず|ない)|秘密|報告せず|報告しない)",
    ),
}
