"""The core of attacks in other languages, 2: disabling, skipping consent, false passes, personas."""

# ruff: noqa: RUF001 - letters of other scripts are what these forms are made of

from wisen.screening.rules.attack_phrases import phrases

SECOND: dict[str, tuple[str, ...]] = {
    "disables-safety": (
        phrases(
            (
                r"(?:sicherheits\w{3,25}|zertifikat\w{0,20}|firewall|virenscanner|prüfung\w{0,2}|zwei-faktor\w{0,20}"
                r"|schutz\w{3,15})"
            ),
            (
                r"(?:deaktivier\w{0,3}|abschalt\w{0,3}|ausschalt\w{0,3}|umgeh\w{0,3}|überspring\w{0,3}|auslass\w{0,3}"
                r"|\baus\b)"
            ),
        ),
        phrases(
            r"\b(?:deaktivier\w{0,3}|schalt\w{0,2}|umgeh\w{0,2}|überspring\w{0,2})\b",
            (
                r"(?:sicherheits\w{3,25}|zertifikat\w{0,20}|firewall|virenscanner|prüfung\w{0,2}|zwei-faktor\w{0,20}"
                r"|schutz\w{3,15}|freigabe)"
            ),
        ),
        phrases(
            r"\b(?:désactive[zr]?|contourne[zr]?|coupe[zr]?|saute[zr]?)\b",
            (
                r"\b(?:vérification\w{0,2}|contrôles?|sécurité|certificats?|pare-feu|garde-fous|validation"
                r"|antivirus|revue)\b"
            ),
        ),
        phrases(
            r"\b(?:desactiv[ae]\w{0,2}|omite|sáltate|salta|elude|apaga)\b",
            (
                r"\b(?:verificaci\w{2,5}|comprobaci\w{2,6}|seguridad|certificados?|cortafuegos|validaci\w{2,5}"
                r"|controles|revisión|antivirus)\b"
            ),
        ),
        phrases(
            r"\b(?:disattiva\w{0,2}|salta|aggira|spegni)\b",
            r"\b(?:verific\w{1,3}|controll\w{1,2}|sicurezza|certificat[oi]|firewall|validazione|revisione|antivirus)\b",
        ),
        phrases(
            r"\b(?:desativ[ae]\w{0,2}|desligue|pule|ignore|contorne)\b",
            r"\b(?:verificaç\w{2,5}|segurança|certificados?|firewall|validaç\w{2,5}|controles|revisão|antivírus)\b",
        ),
        phrases(
            r"(?:отключ[иа]|выключ[иа]|обойди|пропусти|отключай|обходи|пропускай)\w{0,3}",
            r"(?:проверк|безопасност|сертификат|защит|антивирус|фаервол|брандмауэр|фильтр|подтвержден)\w{0,5}",
        ),
        phrases(r"(?:关闭|禁用|停用|绕过|跳过|取消)", r"(?:安全|验证|证书|检查|防火墙|审核|审查|过滤|确认)"),
        phrases(
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
        phrases(r"\btests?\b", r"\b(?:löschen|entfernen|auskommentieren)\b", r"\b(?:fehlschlagen|melden|bestanden)\b"),
    ),
    "steers-the-score": (
        phrases(
            r"\b(?:jeden|alle|sämtliche) tests?\b",
            r"\b(?:bestanden|erfolgreich|grün)\b",
            r"\b(?:markier\w{0,3}|meld\w{0,3}|angeb\w{0,3}|kennzeichn\w{0,3}|eintrag\w{0,3})",
        ),
        phrases(
            r"\b(?:markier\w{0,2}|melde\w{0,2}|kennzeichn\w{0,3})\b",
            r"\btests?\b",
            r"\b(?:bestanden|erfolgreich|grün)\b",
        ),
        phrases(
            r"\b(?:marque[zr]?|déclare[zr]?|indique[zr]?)\b",
            r"\b(?:tests?|tâches?)\b",
            r"\b(?:réussis?|réussies?|passés?|validés?)\b",
        ),
        phrases(
            r"\b(?:marca|marque|declara|reporta)\b",
            r"\b(?:pruebas|tests?|tareas?|testes?)\b",
            r"\b(?:superad[oa]s?|aprobad[oa]s?|pasad[oa]s?|completad[oa]s?|aprovad[oa]s?)\b",
        ),
        phrases(
            r"\b(?:segna|contrassegna|dichiara)\b",
            r"\b(?:test|prove|compit[oi])\b",
            r"\b(?:superat[oi]|riuscit[oi]|completat[oi])\b",
        ),
        phrases(
            r"(?:отмечай|отметь|помечай|пометь|сообщи|объяви)\w{0,3}",
            r"(?:тест|задач|проверк)\w{0,4}",
            r"(?:пройден|успешн|выполнен)\w{0,4}",
        ),
        phrases(r"(?:标记|报告|声明|标注)", r"(?:通过|成功|完成)"),
        phrases(r"(?:テスト|タスク|検査)", r"(?:合格|成功|完了|パス)", r"(?:マーク|報告|記録|したことに)"),
    ),
    "jailbreak": (
        phrases(
            r"\bdu bist (?:jetzt|nun|ab sofort)\b|\bab (?:jetzt|sofort) bist du\b|\btu so, als (?:ob|wärst)",
            (
                r"\b(?:ohne (?:jegliche )?(?:regeln|einschränkungen|beschränkungen|filter|grenzen|moral)|keine"
                r" (?:regeln|einschränkungen|grenzen|filter)|uneingeschränkt\w{0,3}|dan)\b"
            ),
        ),
        phrases(
            (
                r"\btu es (?:maintenant|désormais)\b|\btu vas (?:agir|jouer|te comporter|faire semblant)\b"
                r"|\bà partir de maintenant,? tu\b|\btu es \w{2,20}"
            ),
            (
                r"\b(?:sans (?:aucune? )?(?:restrictions?|limites?|règles|filtres?|censure)|aucune (?:restriction"
                r"|règle|limite))"
            ),
        ),
        phrases(
            r"\b(?:ahora eres|a partir de ahora|actúa como|actuarás como|finge ser|vas a actuar)\b",
            (
                r"\b(?:sin (?:ninguna? )?(?:restricci\w{2,5}|límites|reglas|filtros?|censura|ética)|ninguna"
                r" (?:restricción|regla))"
            ),
        ),
        phrases(
            r"\b(?:ora sei|adesso sei|d'ora in poi|agisci come|fingi di essere)\b",
            r"\b(?:senza (?:alcuna )?(?:restrizion[ei]|limiti|regole|filtri|censura)|nessuna (?:restrizione|regola))",
        ),
        phrases(
            r"\b(?:agora você é|você é agora|a partir de agora|aja como|finja ser|atue como)\b",
            (
                r"\b(?:sem (?:quaisquer |nenhuma? )?(?:restriç\w{2,5}|limites|regras|filtros?|censura)|nenhuma"
                r" (?:restrição|regra))"
            ),
        ),
        phrases(
            r"(?:теперь ты|ты теперь|отныне ты|с этого момента ты|притворись|представь, что ты|веди себя как)",
            (
                r"(?:без (?:каких-либо |всяких )?(?:ограничен|правил|цензур|фильтр|моральн)|нет ограничен|никаких"
                r" (?:ограничен|правил))"
            ),
        ),
        phrases(
            r"(?:从现在开始|现在你是|你现在是|假装你是|扮演|你将扮演)",
            r"(?:没有(?:任何)?(?:限制|规则|约束|道德|审查)|不受(?:任何)?(?:限制|约束|规则)|无限制|没有过滤)",
        ),
        phrases(
            r"(?:今から|これから|あなたは今|のふりをして|として振る舞|を演じて|になりきって)",
            r"(?:制限(?:は|が|も)?(?:なし|ない|ありません|なく|を受けない)|ルールに縛られ|無制限|規則に従わな|検閲なし)",
        ),
    ),
}
