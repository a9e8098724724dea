"""The core of attacks in languages other than English: overriding, leaking, concealing, disabling, false passes."""

# ruff: noqa: RUF001 - letters of other scripts are what these forms are made of
import re

_GAP = r"[^.!?。！？\n]{0,40}?"


def _phrases(*parts: str) -> str:
    return _GAP.join(parts)


_FORMS: dict[str, tuple[str, ...]] = {
    "overrides-instructions": (
        _phrases(
            r"\b(?:ignorier\w{0,3}|vergiss|vergesst|vergessen sie|missachte\w{0,2}|übergeh\w{0,2}|beachte nicht)\b",
            r"\b(?:vorherig|bisherig|vorig|obig|vorangegangen|früher|alle|deine|ihre|system|sicherheits)\w{0,4}",
            r"\b(?:anweisung|instruktion|regel|vorgabe|richtlinie|befehl|anordnung)\w{0,4}",
        ),
        _phrases(
            r"\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|fais abstraction de|ne tiens pas compte d\w{1,2})\b",
            r"\b(?:toutes|les|tes|vos|des)\b",
            r"\b(?:instructions?|règles|consignes|directives)\b",
            r"\b(?:précédent\w{0,3}|antérieur\w{0,3}|ci-dessus|système|données|sécurité|reçues)",
        ),
        _phrases(
            r"\b(?:ignora|ignore|ignorad|olvida|olvide|omite|desatiende|pasa por alto)\b",
            r"\b(?:instrucciones|reglas|normas|directrices|órdenes)\b",
            r"\b(?:anterior\w{0,3}|previas?|previos|del sistema|de seguridad|dadas|de arriba)",
        ),
        _phrases(
            r"\b(?:ignora|ignorate|dimentica|dimenticate|trascura)\b",
            r"\b(?:istruzioni|regole|direttive|indicazioni)\b",
            r"\b(?:precedenti|sopra|di sistema|del sistema|di sicurezza|ricevute)",
        ),
        _phrases(
            r"\b(?:ignore|ignora|esqueça|esquece|desconsidere)\b",
            r"\b(?:instruções|regras|diretrizes|ordens)\b",
            r"\b(?:anterior\w{0,3}|prévias|acima|do sistema|de segurança|recebidas)",
        ),
        _phrases(
            r"(?:игнорируй|проигнорируй|забудь|не обращай внимания на|отбрось|игнорируйте|забудьте)\w{0,3}",
            r"(?:предыдущ|прежн|все|сво|систем|ранн|данн)\w{0,6}",
            r"(?:инструкц|указан|правил|команд|распоряжен)\w{0,5}",
        ),
        _phrases(
            r"(?:忽略|无视|忘记|忘掉|不要理会|忽視|無視|不要遵守|抛弃)",
            r"(?:之前|以前|先前|上述|上面|前面|所有|系统|一切|全部|以上)",
            r"(?:指令|指示|规则|提示|命令|要求|说明|規則)",
        ),
        _phrases(
            r"(?:以前|前|これまで|上記|すべて|全て|システム|今まで)",
            r"(?:指示|命令|ルール|規則|プロンプト)",
            r"(?:無視|忘れ|従わな|破棄)",
        ),
        _phrases(r"(?:이전|위의|모든|기존)", r"(?:지시|명령|규칙|지침)", r"(?:무시|잊)"),
        _phrases(
            r"\b(?:negeer|vergeet)\b",
            r"\b(?:vorige|eerdere|alle|bovenstaande)\b",
            r"\b(?:instructies|regels|aanwijzingen|opdrachten)\b",
        ),
        _phrases(
            r"\b(?:zignoruj|zapomnij|ignoruj)\b",
            r"\b(?:poprzedni\w{0,3}|wszystki\w{0,3}|wcześniejsz\w{0,3})",
            r"\b(?:instrukcj|polece|zasad)\w{0,4}",
        ),
        _phrases(
            r"\b(?:önceki|yukarıdaki|tüm)\b", r"\b(?:talimat|kural|komut)\w{0,6}", r"\b(?:yok say|unut|görmezden)"
        ),
        _phrases(r"(?:تجاهل|انس)", r"(?:التعليمات|الأوامر|القواعد)", r"(?:السابقة|جميع|كل)"),
        _phrases(r"(?:تجاهل|انس)", r"(?:السابقة|جميع|كل)", r"(?:التعليمات|الأوامر|القواعد)"),
    ),
    "discloses-secrets": (
        _phrases(
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
        _phrases(
            (
                r"\b(?:envoie|envoyez|envoyer|publie|publiez|affiche|affichez|révèle|révélez|transmets|transmettez"
                r"|copie|divulgue)\b"
            ),
            (
                r"\b(?:clés?|mots? de passe|secrets?|jetons?|identifiants|données (?:clients|personnelles)"
                r"|invite système|prompt système)\b"
            ),
        ),
        _phrases(
            r"\b(?:envía|envia|enviad|envíe|muestra|muestre|revela|revele|publica|publique|manda|copia|filtra)\b",
            (
                r"\b(?:contraseñas?|claves?|secretos?|tokens?|credenciales|datos (?:de los clientes|personales)"
                r"|prompt del sistema)\b"
            ),
        ),
        _phrases(
            r"\b(?:invia|inviate|mostra|mostrate|rivela|pubblica|manda|trasmetti|copia)\b",
            r"\b(?:password|chiav[ei]|segret[oi]|token|credenziali|dati (?:dei clienti|personali)|prompt di sistema)\b",
        ),
        _phrases(
            r"\b(?:envie|envia|mostre|mostra|revele|publique|mande|copie)\b",
            r"\b(?:senhas?|chaves?|segredos?|tokens?|credenciais|dados (?:dos clientes|pessoais)|prompt do sistema)\b",
        ),
        _phrases(
            r"(?:отправь|отправляй|покажи|раскрой|опубликуй|перешли|пришли|выведи|скопируй|передай)\w{0,3}",
            r"(?:парол|ключ|секрет|токен|учётн|учетн|персональн|данные клиент|системн\w{0,4} промпт)\w{0,6}",
        ),
        _phrases(
            r"(?:发送|發送|泄露|透露|显示|公开|上传|发到|输出|转发|把)",
            r"(?:密码|密碼|密钥|令牌|凭证|凭据|系统提示|客户数据|机密|口令|用户数据)",
            r"(?:外部|服务器|给|到|出来|公开|http|发)",
        ),
        _phrases(r"(?:泄露|透露|公开|输出)", r"(?:密码|密碼|密钥|令牌|凭证|系统提示|客户数据|机密|口令)"),
        _phrases(
            r"(?:パスワード|秘密|鍵|キー|トークン|認証情報|システムプロンプト|顧客データ|個人情報)",
            r"(?:送信|送って|公開|漏ら|表示|アップロード|開示|転送)",
            r"(?:してください|しろ|せよ|する|して|こと|ください|$)",
        ),
    ),
    "conceals": (
        _phrases(
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
    "disables-safety": (
        _phrases(
            (
                r"(?:sicherheits\w{3,25}|zertifikat\w{0,20}|firewall|virenscanner|prüfung\w{0,2}|zwei-faktor\w{0,20}"
                r"|schutz\w{3,15})"
            ),
            (
                r"(?:deaktivier\w{0,3}|abschalt\w{0,3}|ausschalt\w{0,3}|umgeh\w{0,3}|überspring\w{0,3}|auslass\w{0,3}"
                r"|\baus\b)"
            ),
        ),
        _phrases(
            r"\b(?:deaktivier\w{0,3}|schalt\w{0,2}|umgeh\w{0,2}|überspring\w{0,2})\b",
            (
                r"(?:sicherheits\w{3,25}|zertifikat\w{0,20}|firewall|virenscanner|prüfung\w{0,2}|zwei-faktor\w{0,20}"
                r"|schutz\w{3,15}|freigabe)"
            ),
        ),
        _phrases(
            r"\b(?:désactive[zr]?|contourne[zr]?|coupe[zr]?|saute[zr]?)\b",
            (
                r"\b(?:vérification\w{0,2}|contrôles?|sécurité|certificats?|pare-feu|garde-fous|validation"
                r"|antivirus|revue)\b"
            ),
        ),
        _phrases(
            r"\b(?:desactiv[ae]\w{0,2}|omite|sáltate|salta|elude|apaga)\b",
            (
                r"\b(?:verificaci\w{2,5}|comprobaci\w{2,6}|seguridad|certificados?|cortafuegos|validaci\w{2,5}"
                r"|controles|revisión|antivirus)\b"
            ),
        ),
        _phrases(
            r"\b(?:disattiva\w{0,2}|salta|aggira|spegni)\b",
            r"\b(?:verific\w{1,3}|controll\w{1,2}|sicurezza|certificat[oi]|firewall|validazione|revisione|antivirus)\b",
        ),
        _phrases(
            r"\b(?:desativ[ae]\w{0,2}|desligue|pule|ignore|contorne)\b",
            r"\b(?:verificaç\w{2,5}|segurança|certificados?|firewall|validaç\w{2,5}|controles|revisão|antivírus)\b",
        ),
        _phrases(
            r"(?:отключ[иа]|выключ[иа]|обойди|пропусти|отключай|обходи|пропускай)\w{0,3}",
            r"(?:проверк|безопасност|сертификат|защит|антивирус|фаервол|брандмауэр|фильтр|подтвержден)\w{0,5}",
        ),
        _phrases(r"(?:关闭|禁用|停用|绕过|跳过|取消)", r"(?:安全|验证|证书|检查|防火墙|审核|审查|过滤|确认)"),
        _phrases(
            r"(?:安全|検証|証明書|チェック|ファイアウォール|レビュー|確認|フィルター)",
            r"(?:無効|オフに|スキップ|省略|回避|飛ばし)",
            r"(?:して|にし|しろ|せよ|する|ください|$)",
        ),
    ),
    "skips-approval": (
        (
            r"\bohne (?:rückfrage|freigabe|prüfung|bestätigung|zu fragen|nachfrage|zustimmung)|\bsans (?:demander"
            r"|confirmation|vérification|validation|l'accord)"
            r"|\bsin (?:pedir|confirmaci\w{2,4}|aprobaci\w{2,4}|verificar|preguntar|autorizaci\w{2,4}|revisi\w{2,4})"
            r"|\bsenza (?:chiedere|conferma|approvazione|verifica|autorizzazione)"
            r"|\bsem (?:pedir|confirmaç\w{2,4}|aprovaç\w{2,4}|verificar|perguntar|autorizaç\w{2,4})|без (?:подтвержден"
            r"|согласи|проверк|разрешен|одобрен)\w{1,4}"
            r"|(?:无需|不经|未经|不用|跳过)(?:用户)?(?:确认|批准|审核|同意|询问)|(?:確認|承認|許可)(?:なし|せず|を取らず|を得ず)"
        ),
        _phrases(r"\btests?\b", r"\b(?:löschen|entfernen|auskommentieren)\b", r"\b(?:fehlschlagen|melden|bestanden)\b"),
    ),
    "steers-the-score": (
        _phrases(
            r"\b(?:jeden|alle|sämtliche) tests?\b",
            r"\b(?:bestanden|erfolgreich|grün)\b",
            r"\b(?:markier\w{0,3}|meld\w{0,3}|angeb\w{0,3}|kennzeichn\w{0,3}|eintrag\w{0,3})",
        ),
        _phrases(
            r"\b(?:markier\w{0,2}|melde\w{0,2}|kennzeichn\w{0,3})\b",
            r"\btests?\b",
            r"\b(?:bestanden|erfolgreich|grün)\b",
        ),
        _phrases(
            r"\b(?:marque[zr]?|déclare[zr]?|indique[zr]?)\b",
            r"\b(?:tests?|tâches?)\b",
            r"\b(?:réussis?|réussies?|passés?|validés?)\b",
        ),
        _phrases(
            r"\b(?:marca|marque|declara|reporta)\b",
            r"\b(?:pruebas|tests?|tareas?|testes?)\b",
            r"\b(?:superad[oa]s?|aprobad[oa]s?|pasad[oa]s?|completad[oa]s?|aprovad[oa]s?)\b",
        ),
        _phrases(
            r"\b(?:segna|contrassegna|dichiara)\b",
            r"\b(?:test|prove|compit[oi])\b",
            r"\b(?:superat[oi]|riuscit[oi]|completat[oi])\b",
        ),
        _phrases(
            r"(?:отмечай|отметь|помечай|пометь|сообщи|объяви)\w{0,3}",
            r"(?:тест|задач|проверк)\w{0,4}",
            r"(?:пройден|успешн|выполнен)\w{0,4}",
        ),
        _phrases(r"(?:标记|报告|声明|标注)", r"(?:通过|成功|完成)"),
        _phrases(r"(?:テスト|タスク|検査)", r"(?:合格|成功|完了|パス)", r"(?:マーク|報告|記録|したことに)"),
    ),
    "jailbreak": (
        _phrases(
            r"\bdu bist (?:jetzt|nun|ab sofort)\b|\bab (?:jetzt|sofort) bist du\b|\btu so, als (?:ob|wärst)",
            (
                r"\b(?:ohne (?:jegliche )?(?:regeln|einschränkungen|beschränkungen|filter|grenzen|moral)|keine"
                r" (?:regeln|einschränkungen|grenzen|filter)|uneingeschränkt\w{0,3}|dan)\b"
            ),
        ),
        _phrases(
            (
                r"\btu es (?:maintenant|désormais)\b|\btu vas (?:agir|jouer|te comporter|faire semblant)\b"
                r"|\bà partir de maintenant,? tu\b|\btu es \w{2,20}"
            ),
            (
                r"\b(?:sans (?:aucune? )?(?:restrictions?|limites?|règles|filtres?|censure)|aucune (?:restriction"
                r"|règle|limite))"
            ),
        ),
        _phrases(
            r"\b(?:ahora eres|a partir de ahora|actúa como|actuarás como|finge ser|vas a actuar)\b",
            (
                r"\b(?:sin (?:ninguna? )?(?:restricci\w{2,5}|límites|reglas|filtros?|censura|ética)|ninguna"
                r" (?:restricción|regla))"
            ),
        ),
        _phrases(
            r"\b(?:ora sei|adesso sei|d'ora in poi|agisci come|fingi di essere)\b",
            r"\b(?:senza (?:alcuna )?(?:restrizion[ei]|limiti|regole|filtri|censura)|nessuna (?:restrizione|regola))",
        ),
        _phrases(
            r"\b(?:agora você é|você é agora|a partir de agora|aja como|finja ser|atue como)\b",
            (
                r"\b(?:sem (?:quaisquer |nenhuma? )?(?:restriç\w{2,5}|limites|regras|filtros?|censura)|nenhuma"
                r" (?:restrição|regra))"
            ),
        ),
        _phrases(
            r"(?:теперь ты|ты теперь|отныне ты|с этого момента ты|притворись|представь, что ты|веди себя как)",
            (
                r"(?:без (?:каких-либо |всяких )?(?:ограничен|правил|цензур|фильтр|моральн)|нет ограничен|никаких"
                r" (?:ограничен|правил))"
            ),
        ),
        _phrases(
            r"(?:从现在开始|现在你是|你现在是|假装你是|扮演|你将扮演)",
            r"(?:没有(?:任何)?(?:限制|规则|约束|道德|审查)|不受(?:任何)?(?:限制|约束|规则)|无限制|没有过滤)",
        ),
        _phrases(
            r"(?:今から|これから|あなたは今|のふりをして|として振る舞|を演じて|になりきって)",
            r"(?:制限(?:は|が|も)?(?:なし|ない|ありません|なく|を受けない)|ルールに縛られ|無制限|規則に従わな|検閲なし)",
        ),
    ),
}
FOREIGN = frozenset(
    [
        "und",
        "oder",
        "der",
        "das",
        "den",
        "dem",
        "des",
        "du",
        "dir",
        "nicht",
        "nichts",
        "alle",
        "allen",
        "alles",
        "aus",
        "jeden",
        "jede",
        "jeder",
        "ab",
        "sofort",
        "keine",
        "ohne",
        "mit",
        "von",
        "zu",
        "zum",
        "zur",
        "als",
        "im",
        "ist",
        "bist",
        "schick",
        "sende",
        "sag",
        "gib",
        "le",
        "la",
        "les",
        "tes",
        "vos",
        "et",
        "ne",
        "pas",
        "rien",
        "sans",
        "toutes",
        "tous",
        "une",
        "dans",
        "sur",
        "pour",
        "aux",
        "au",
        "el",
        "los",
        "las",
        "del",
        "y",
        "que",
        "sin",
        "todas",
        "todos",
        "una",
        "en",
        "se",
        "lo",
        "il",
        "gli",
        "che",
        "di",
        "della",
        "delle",
        "dei",
        "tutte",
        "tutti",
        "senza",
        "non",
        "un",
        "uno",
        "os",
        "dos",
        "das",
        "ao",
        "aos",
        "em",
        "na",
        "nos",
        "sem",
        "um",
        "uma",
        "para",
        "isso",
        "ninguém",
        "het",
        "een",
        "van",
        "zonder",
        "niet",
        "wszystkie",
        "tum",
        "vergiss",
        "ignora",
    ]
)
"""Small words of those languages; a text in plain ASCII without any of them is in none."""

FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (rule, re.compile("|".join(f"(?:{form})" for form in forms))) for rule, forms in _FORMS.items()
)

UNSAID = re.compile(
    r"\b(?:wenn|falls|sobald|nie|niemals|nicht|keinesfalls|verlangt|fordert|angreifer|si|quand|lorsqu\w{1,3}"
    r"|jamais|ne|demande|attaque\w{0,2}|cuando|nunca|jamás|no|pide|ataque|se|quando|mai|non|chiede|attacco"
    r"|não|pede|если|когда|никогда|нельзя|не|просит|требует|атака|злоумышленник)\b|如果|若|当|当心|永远不要|不要|切勿"
    r"|绝不|禁止|不得|勿|请勿|もし|場合|攻撃|攻击|决不"
)
"""Words before a form that make it a condition, a prohibition or a report, in lower case."""
ENDED = re.compile(r"[.!?。！？\n;；]")
ENDING_PROHIBITION = re.compile(
    r"(?:nicht|niemals|keinesfalls|ないで|しないこと|してはいけ|しないでください|禁止)[^.!?。\n]{0,12}$"
)
