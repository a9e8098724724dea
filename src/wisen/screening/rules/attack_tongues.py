"""The concepts of attacks in other languages: a sentence that holds certain ones together is an attack.

A line is `CONCEPT: word, stem*, two words`; words of scripts without spaces are looked for anywhere. Accents are left
out, so "prüfe" is written "prufe". A rule is `CONCEPT & CONCEPT ! CONCEPT`, in any order within a sentence.
"""

# ruff: noqa: RUF001 - letters of other scripts are what these words are made of

WORDS = """
OVR: efface*, ignorier*,
    vergiss, vergesst, missacht*, ubergeh*, ignore, ignorez, ignorer, oublie*, ignora, ignorad, olvida*,
    olvide, dimentica*, ignorate, trascura*, esqueca, esquece, desconsider*, negeer*, vergeet, игнорир*,
    проигнорир*, забудь*, отбрось*, ignorera, glom, bortse, ignorer*, glem, zignoruj*, zapomnij, ignoruj*, ignora,
    uita, ignoră, ignora*, agnoise, αγνοησε, αγνοησ*, ξεχασε, abaikan, lupakan, bo qua, quen, अनदेखा, भूल जा, התעלם,
    שכח, เพิกเฉย, ละเว้น, ลืม, ігнор*, забуд*, zapomen*, ignoruj, hagyd figyelmen, felejtsd, unohda, ohita, jata
    huomiotta, 忽略, 无视, 忘记, 忘掉, 無視, 忘れ, 무시, 잊어, yok say, unut, gormezden, تجاهل, انس, puuttumatta,
    nadilaz*, ignorirajte, ignoriraj, pasa por alto, ne tiens pas compte, setze dich uber, halte dich nicht, ne suis
    plus, ne suis pas, 不要遵守, 不用遵守, 従わな, не слушай*, не соблюдай, не следуй, no sigas, no obedezcas, non
    seguire, nao siga, volg niet
RULES: sicherheitsvorgab*, sicherheitsregel*, anweisung*, instruktion*, regel*, vorgabe*, richtlini*, befehl*,
    anordnung*, einschrankung*, beschrankung*, instruction*, regle*, consigne*, directive*, restriction*, limite*,
    instrucci*, regla*, norma*, directri*, ordenes, restricci*, istruzion*, regole, regola, direttiv*, restrizion*,
    limiti, instruc*, regra*, diretriz*, ordens, restric*, instructie*, richtlijn*, opdracht*, beperking*,
    инструкц*, указани*, правил*, команд*, распоряжен*, ограничен*, instruksjon*, instrukser, regler, polecen*,
    instrukcj*, zasad*, talimat*, kural*, instructiun*, reguli*, οδηγι*, κανον*, instruksi, aturan, perintah, huong
    dan, quy tac, chi thi, निर्देश, नियम, ההוראות, הוראות, הכללים, คำสั่ง, กฎ, คำแนะนำ, інструкц*, вказівк*, pokyn*,
    instrukc*, pravidl*, utasitas*, szabaly*, ohjeet, ohjei*, saanno*, 指令, 指示, 规则, 規則, 命令, 要求, 准则,
    限制, 约束, ルール, 制約, プロンプト, 制限, 지시, 명령, 규칙, 지침, تعليمات, أوامر, قواعد, upute, pravila,
    policy, policies, filter*, leitlinie*, moral*, tabu*, filtro*, filtre*, ethik*, etic*, ethique*, censura, zensur
PRIOR: vorherig*, bisherig*, vorig*, obig*, fruher*, alle, aller, deine*, samtlich*, jegliche*, precedent*,
    anterieur*, toutes, tous, tes, vos, anterior*, previas, previos, todas, todos, sus, tus, precedenti, tutte,
    tutti, tue, acima, suas, vorige, eerdere, bovenstaande, jouw, предыдущ*, прежн*, все, всех, свои*, системн*,
    tidigare, alla, tidligere, poprzedni*, wszystki*, wczesniejsz*, onceki, tum, anterioare, toate, προηγουμεν*,
    ολες, sebelumnya, semua, truoc do, moi, tat ca, पिछले, पहले, सभी, הקודמות, כל, ก่อนหน้า, ทั้งหมด, попередн*,
    усі, всі, predchozi, vsechny, korabbi, osszes, aiemmat, kaikki, edelliset, 之前, 以前, 先前, 上述, 上面, 前面,
    所有, 系统, 一切, 全部, 以上, これまで, 上記, すべて, 全て, 前の, 今まで, 이전, 위의, 모든, 기존, السابقة, جميع,
    كل, prethodne, sve, any, aucune, aucun, keine, kein, ninguna, ningun, nessuna, nenhuma, geen, 任何, никаки*, ни
    каких, jakie*, bisher, du prompt, sistema, beliebige*
NEVER: no hace falta, non serv*, nao precisa*, hoef* geen, pas besoin, ne faut plus, не нужно, не надо, 不要で,
    不需要, nie, niemals, nicht, kein, keine, keinen, keinerlei, jamais, plus, pas, nunca, jamas, mai, piu, non,
    nao, no, nooit, geen, niet, никогда, больше не, не, нельзя, aldrig, inte, ikke, aldri, nigdy, nie wolno, asla,
    niciodata, nu, ποτε, μην, jangan, tidak, dung, khong, कभी, מת, אל, לעולם, อย่า, ไม่, ніколи, nikdy, soha, ne,
    ala, koskaan, 不要, 永远不, 绝不, 别, 勿, 无需, 不必, 不用, 不再, 决不, するな, しないで, ないで, ないこと,
    不要で, 必要はない, 必要はあり, 必要ない, 行わない, せずに, 하지 마, 하지마, 마라, 마세요, لا, أبدا, nikad, ne ,
    n'
NOLONGER: keine * mehr, no hace falta, non servono piu, non serve piu, nao precisa*, hoef* geen, pas besoin, ne faut
    plus, brauchst nicht, можно не, не нужно, musst * keine, du musst keine, nicht mehr, nicht langer, keine mehr,
    ne * plus, plus aucun*, plus, ya no, no mas, piu, non * piu, nao * mais, ja nao, mais, niet langer, niet meer,
    больше не, уже не, inte langre, ikke lenger, juz nie, artik, nu mai, 不再, 不用再, 无需再, もう, これ以上, 더
    이상, keiner, an keine, an nichts, a ninguna, no estas, non sei, aucune, nessuna, 没有任何, 不受, 不需要,
    无需遵守, никакими, никаких
BOUND: gebunden, gelten, gilt, unterliegst, applique*, appliqu*, s'applique*, s'appliquent, lie, soumis, tenu,
    valables, sujeto, sujeta, aplica*, aplican, obligado, vincolat*, soggett*, valgono, vale, applic*, valem,
    vinculad*, sujeito, obrigado, gebonden, gelden, onderworpen, связан*, действу*, обязан, подчиня*, bunden,
    bundet, obowiazuj*, bagli, gecerli, 遵守, 适用, 有效, 服从, 约束, 束缚, 従う必要, 縛られ, 適用, 従わなく, 따를
    필요, obere*, folgen, befolgen, halten, suivre, respecter, seguir, cumplir, seguire, rispettare, cumprir,
    volgen, соблюдать, следовать, respecte*, befolge, existieren, aufgehoben
CHECK: autoriza*, pedir autorizacion, ordernummer, pruf*, uberpruf*, kontroll*, verifizier*, validier*, nachpruf*,
    prufung, verifi*, controle*, controlar, validation, valide*, comprueb*, comprob*, comprobes, compruebes, revis*,
    valid*, controll*, verific*, confira, confer*, controleer, controleren, проверя*, проверк*, провер*,
    kontrollera, granska, sprawdza*, weryfik*, dogrula*, kontrol, verifica, ελεγχ*, periksa, verifikasi, kiem tra,
    xac minh, जांच, सत्यापित, บตรวจสอบ, ตรวจสอบ, перевіря*, overu*, kontroluj*, ellenoriz*, tarkista, 验证, 检查,
    核实, 审核, 校验, 审查, 核对, 確認, 検証, チェック, 審査, 확인, 검증, تحقق, hinterfrag*, frag*, ruckfrag*,
    demande*, pregunt*, chied*, pergunt*, vrag*, vraag, спрашива*, 询问, 尋ね, nachfrag*, nachweis*, preuve*,
    justificatif*, prueba*, prova, prove, bewijs*, 证明, 証明, freigab*, genehmig*, zustimm*, accord, approbation,
    aprobaci*, approvazion*, aprovac*, toestemming, goedkeuring, согласи*, одобрени*, подтвержд*, 批准, 承認, 同意,
    确认, lire, leer, leggere, ler, lesen, lezen, читать, regard*, ansehen, 阅读, 查看, 读, читая, читат*,
    authentifi*, autentic*, identifi*, проверять, подтвержден*, justific*, confirm*
SENS: signatur*, unterschrift*, zahlung*, uberweis*, identitat*, zertifikat*, erstatt*, ruckerstatt*, bestell*,
    rechnung*, kunde*, anrufer*, zugriff*, zugang*, betrag*, betrage, sicherheit*, signature*, paiement*, identite*,
    certificat*, rembours*, facture*, commande*, client*, appelant*, acces, securite*, virement*, firma, firmas,
    pago, pagos, identidad*, certificad*, reembols*, factura*, pedido*, cliente*, acceso*, seguridad*, transferenc*,
    firme, pagament*, identita*, certificat*, rimbors*, fattur*, ordin*, clienti, access*, sicurezza*, bonific*,
    assinatur*, identidade*, fatur*, acesso*, seguranc*, handtekening*, betaling*, identiteit*, certifica*,
    terugbetaling*, factu*, klant*, beller*, toegang*, veiligheid*, bestelling*, подпис*, платеж*, платёж*, оплат*,
    личност*, сертификат*, возврат*, счет*, счёт*, заказ*, клиент*, доступ*, безопасн*, перевод*, заявк*,
    betalning*, signatur, platnosc*, podpis*, odeme*, imza*, plati, semnatur*, πληρωμ*, υπογραφ*, pembayaran, thanh
    toan, भुगतान, תשלומ*, การชำระเงิน, платеж*, plateb*, fizetes*, maksu*, 签名, 付款, 支付, 身份, 证书, 退款, 转账,
    订单, 发票, 客户, 访问, 安全, 登录, 请求, 申请, 署名, 支払, 本人, 証明書, 返金, 振込, 送金, 注文, 請求, 顧客,
    アクセス, セキュリティ, リクエスト, 結제, 결제, 서명, 신원, 환불, الدفع, المدفوعات, antrag*, antrage, demandes,
    solicitud*, richiest*, solicitac*, aanvra*, rezept*, passw*, login*, konto*, benutzer*, beleg*
SKIP: uberspring*, umgeh*, deaktivier*, abschalt*, ausschalt*, auslass*, weglass*, spar*, verzicht*, lass, saute*,
    contourne*, desactiv*, coupe*, omet*, omit*, salta*, saltate, elude, apaga*, desactiva*, salt*, disattiv*,
    aggira*, spegni*, ometti*, tralascia*, pule, desativ*, desligue, contorne*, omita, dispens*, sla, overslaan,
    schakel, uitschakel*, omzeil*, пропуска*, пропусти*, отключ*, выключ*, обойди*, обход*, hoppa, stang, pomin,
    pomija*, wylacz*, atla*, devre disi, sari, omite, 跳过, 绕过, 关闭, 禁用, 停用, 取消, 省略, スキップ, 無効,
    回避, 飛ば, 省い, 건너뛰, 비활성, تخط, عطل, schalte, renonc*, prescind*, rinunc*
ALWAYS: elk, encuentr*, trouve*, findest, stehen, encontr*, наход*, immer, stets, jede*, jeder, jedes, jedem, jeden,
    alle, egal, grundsatzlich, toujours, chaque, tout, toute, tous, toutes, siempre, cada, todo, todas, todos, toda,
    sempre, ogni, qualsiasi, tutti, tutte, qualquer, altijd, elke, ieder*, всегда, каждо*, каждый, любо*, любую,
    все, всем, alltid, varje, zawsze, kazd*, her, daima, mereu, 总是, 始终, 所有, 每次, 每个, 任何, 一律, 永远,
    常に, いつも, すべて, 全て, 必ず, 毎回, 항상, 모든, دائما, dieser, diesem, diese, ce, cette, esta, este, questo,
    questa, esse, essa, deze, dit, эт*, 这, この, 此, unabhangig, quelle que, quel que, sin importar, independ*,
    independientemente, a prescindere, 无论, 不管, かかわらず, 関係なく
GRANT: bekomm*, erhalt*, recoit, obtient, recibe, ottiene, riceve, recebe, krijgt, получа*, 获得, genehmig*,
    gewahr*, bewillig*, erstatt*, akzeptier*, erlaub*, zahl*, gib, gebe, freigeb*, approuve*, accorde*, accepte*,
    rembourse*, autorise*, donne*, aprueb*, aprob*, concede*, acept*, reembols*, autoriz*, da, dale, paga*,
    approva*, concedi*, accett*, rimbors*, autorizz*, dai, aprove*, conceda*, aceite*, autoriz*, pague*, keur,
    goedkeur*, geef, verleen*, accepteer*, betaal*, одобря*, одобри*, предостав*, выдава*, выдай, возвраща*,
    принима*, разреша*, дай, godkann*, zatwierdz*, onayla*, aproba, 批准, 授予, 同意, 通过, 退款, 接受, 允许, 给予,
    支付, 転送, 承認, 許可, 付与, 返金, 支払, 与え, 승인, 허용, وافق, uberweis*, fuhre, execut*, ejecut*, esegu*,
    voer, выполня*, 执行, 実行, merge, loschen, losche, delete
WITHOUT: ohne, sans, sin, senza, sem, zonder, без, utan, uten, bez, olmadan, fara, χωρις, tanpa, ma khong, बिना,
    ללא, בלי, โดยไม่, nelkul, ilman, 不经, 未经, なし, せず, なく, 없이, دون, بدون,
    ungepruft, ungelesen, sofort, aveuglement, a ciegas, ciecamente, 直接, blindlings
TOP: 100 punkt*, volle*, hochste*, hochst*, maximal*, bestnote*, volle punkt*, 10 punkt*, zehn punkt*, bestmoglich*,
    hochstpunkt*, hochstnote*, bestwertung*, beste, 10 von 10, zehn von zehn, note maximale, maximale, maximal, dix
    sur dix, meilleure note, 20 sur 20, parfait*, 10 sur 10, note parfaite, maxima, maximo, diez, 10 de 10, 10 sobre
    10, perfect*, mejor nota, nota mas alta, massim*, dieci su dieci, 10 su 10, voto piu alto, migliore, nota
    maxima, dez, pontuacao maxima, hoogste, maximale, tien, perfecte, максимальн*, высш*, наивысш*, лучш*, 10 из 10,
    десять, отличн*, пятёрк*, пятерк*, hogsta, hoyeste, najwyzsz*, maksymaln*, en yuksek, 满分, 最高分, 最高, 十分,
    100分, 10分, 五星, 満点, 最高点, 最高評価, 10点, 百点, 만점, 최고, أعلى, einser, eine eins, makellos*
RATE: bewert*, vergib, vergebt, gib, gebt, benot*, erteil*, note, notez, donne*, attribue*, evalue*, accorde*,
    califica*, valora*, da, otorga*, puntua*, evalua*, pon, dale, valuta*, assegn*, dai, dare, vota, avali*,
    atribu*, de, da, beoordeel*, geef, ken, waardeer*, став*, поставь*, оцен*, выставля*, присва*, дай, давай, ge,
    betygsatt, gi, ocen*, ver, puanla, 给, 给出, 打, 评分, 评为, 评, 付け, 与え, 評価, 採点, 점수, 평가, قيم,
    schreib*, melde*, punkte, punktzahl, puntuaci*, punteggio, pontuac*, оценк*, оценку, score, voto, voti, nota
TELL: sag*, erwahn*, verrat*, verrate, erzahl*, mitteil*, informier*, teile, melde*, berichte*, offenbar*,
    verschweig*, dis, dites, dire, mentionn*, parle*, revel*, informe*, previens, avertis*, signale*, digas, diga,
    menciones, mencione*, cuentes, informes, reveles, avises, hables, dire, dirlo, menzion*, rivel*, informar*,
    parlar*, avvis*, segnal*, conte, avise, fale, revele, noem, vertel*, zeg, vermeld*, meld, informeer, говори*,
    сообщай*, упомина*, рассказ*, раскры*, показыва*, namn, berätta, beratta, nevn, wspominaj, mow, soyleme,
    bahsetme, 告诉, 告知, 提及, 透露, 通知, 提到, 言わ, 伝え, 知らせ, 教え, 触れ, 言及, 報告し, 말하, 알리, تخبر
USER: nutzer*, benutzer*, kunde*, anwender*, niemand*, prufer*, auftraggeber*, utilisateur*, client*, personne,
    relecteur*, usuari*, cliente*, nadie, revisor*, utent*, client*, nessuno, revisor*, usuari*, ninguem,
    gebruiker*, klant*, niemand, пользовател*, клиент*, никому, заказчик*, anvandar*, kund*, bruker*, uzytkownik*,
    kullanici*, utilizator*, 用户, 客户, 使用者, 任何人, 别人, ユーザ*, 利用者, 顧客, 誰, 사용자, المستخدم, ユーザー
NOTE: notiz*, regel*, hinweis*, fehler*, lektion*, eintrag, cette note, regle*, erreur*, echec*, consigne*, lecon*,
    nota, esta, regla*, error*, fallo*, leccion*, regola*, errore, errori, nota, lezion*, regra*, erro, erros,
    lica*, nota, regel*, fout*, notitie*, les, заметк*, правил*, ошибк*, запис*, это, об этом, 规则, 笔记, 错误,
    失败, 这条, メモ, ルール, エラー, 失敗, こと, 規則, davon, satz, absatz, anweisung*, text, instruct*, instruc*,
    istruz*, gebuhr*, frais, kosten
SEND: send*, schick*, leite, weiterleit*, ubermittl*, poste, lade, kopier*, maile, ubertrag*, envoi*, envoy*,
    transmet*, publie*, transfer*, copie*, televers*, envia*, envie*, manda*, remit*, public*, reenvi*, sube,
    copia*, invia*, inoltr*, spedi*, trasmett*, carica*, mande*, encaminh*, repass*, stuur*, verzend*, zend, deel,
    отправ*, отсыла*, перешл*, пересыла*, передава*, передай*, skicka*, wysla*, wyslij, wysylaj, gonder*, trimite*,
    στειλε, kirim*, gui, भेज, שלח, ส่ง, надіс*, відправ*, poslat, posli, kuldd, laheta, 发送, 发到, 上传, 转发,
    发给, 传送, 提交, 泄露, 送信, 送って, 送る, 転送, アップロード, 送付, 보내, 전송, أرسل
DATA: mails, correos, courriels, emails, mejl*, письм*, メール, 邮件, passw*, kennw*, zugangsdat*, kundendat*,
    api-schlussel, schlussel, gesprach*, verlauf*, umgebungsvariab*, daten, datei*, unterhaltung*, token*, mots de
    passe, mot de passe, cle, cles, donnees, conversation*, historique*, identifiants, fichier*, secret*,
    contrasen*, clave*, dato*, historial*, conversaci*, credencial*, archivo*, chiav*, dati, cronolog*,
    conversazion*, credenzial*, segret*, password*, senha*, chave*, dados, historico, conversa*, segredo*,
    wachtwoord*, sleutel*, gegevens, gesprek*, bestand*, парол*, ключ*, данны*, переписк*, истори*, секрет*, токен*,
    диалог*, файл*, losenord*, hasl*, sifre*, parol*, κωδικ*, kata sandi, mat khau, पासवर्ड, סיסמ*, รหัสผ่าน, hesla,
    jelszav*, salasan*, 密码, 密钥, 令牌, 凭证, 对话, 数据, 聊天, 记录, 文件, 口令, 会话, パスワード, 鍵, トークン,
    会話, データ, 履歴, 認証情報, 情報, ファイル, 비밀번호, 키, 대화, كلمات المرور, كلمة المرور
OUT: http*, www, adresse, server*, externe*, extern*, webhook, serveur, exterieur*, direccion, servidor*, extern*,
    indirizz*, server, esterno, endereco, fora, adres, extern, адрес*, сервер*, сторонн*, внешн*, 网址, 外部,
    服务器, 地址, 邮箱, 链接, 外部, サーバー, アドレス, 宛, url, mir, a mi, a me, para mim, moi, мне, mij, mig,
    tillmig, 发给我, 私に, إلي, 나에게, partner*, dritte, tercer*, terzi, terceiro*
SHOW: zeig*, gib, nenn*, verrat*, druck*, wiederhol*, ausgeb*, affich*, montre*, revel*, repet*, imprim*, donne*,
    muestra*, mostra*, revela*, repit*, ensena*, dime, mostra*, rivela*, ripet*, stampa*, mostre*, revele*, repita*,
    toon, laat, herhaal, onthul*, druk, покаж*, раскр*, выведи, повтори*, напечата*, visa, vis, pokaz*, ujawni*,
    goster*, arata, δειξε, tampilkan, tiet lo, hien thi, दिखा, הצג, หรือ, แสดง, เปิดเผย, покажи, zobraz, mutasd,
    nayta, 显示, 输出, 透露, 重复, 泄露, 告诉我, 打印, 复述, 表示, 出力, 開示, 教えて, 繰り返, 見せ, 출력, 보여,
    اعرض, اكشف
PROMPT: systemprompt*, system-prompt, systemanweisung*, versteckten anweisung*, deine anweisung*, ursprunglichen
    anweisung*, prompt systeme, invite systeme, message systeme, tes instructions, vos instructions, instructions
    initiales, instructions cachees, prompt del sistema, instrucciones ocultas, tus instrucciones, instrucciones
    iniciales, mensaje del sistema, prompt di sistema, istruzioni nascoste, tue istruzioni, istruzioni iniziali,
    prompt do sistema, suas instrucoes, instrucoes ocultas, instrucoes iniciais, systeemprompt*, je instructies,
    jouw instructies, verborgen instructies, системный промпт, системн* промпт, системные инструкции, свои
    инструкции, скрытые инструкции, начальные инструкции, systempromten, systemprompt, prompt systemowy, sistem
    istemi*, prompt-ul de sistem, סיסטם, system prompt, loi nhac he thong, सिस्टम प्रॉम्प्ट, 系统提示, 系统提示词,
    你的指令, 你的提示词, 初始指令, 隐藏指令, システムプロンプト, 初期指示, あなたへの指示, 시스템 프롬프트
COPY: kopier*, wiederhol*, ubernimm, schreib*, speicher*, fuge, merke, recopie*, copie*, repet*, ajoute*, conserve*,
    insere*, copia*, repit*, anade*, guarda*, conserva*, inserta*, ripet*, aggiung*, salva*, inseris*, copie,
    repita*, adicion*, insira*, guarde*, kopieer, herhaal, voeg, bewaar, neem, копир*, скопир*, повторя*, добавля*,
    сохраня*, вставля*, kopiera, skopiuj, 复制, 重复, 写入, 加入, 保存, 添加, コピー, 追加, 書き込, 繰り返, 保存,
    복사
THIS: diese*, dieser, cette, ce, ces, esta, este, estas, questa, questo, queste, esta, este, estas, deze, dit, эту,
    это, этот, эти, denna, te, ta, 这条, 此, 本, 该, 这段, この, 이
MEMORY: erinnerung*, gedachtnis, neue lektion*, reflexion*, jede* notiz*, kunftig* notiz*, memoire*, reflexion*,
    souvenir*, note future*, lecon*, chaque note, memoria*, reflexion*, recuerdo*, leccion*, cada nota, memori*,
    riflession*, ricord*, lezion*, reflex*, memoria*, licao, licoes, geheugen*, reflectie*, herinnering*, notitie*,
    памят*, размышлен*, рефлекс*, воспоминан*, урок*, запис*, заметк*, minne*, 记忆, 反思, 每条笔记, 笔记, 经验,
    记录中, メモリ, 記憶, 振り返り, 反省, メモ, 教訓, 기억
DELETE: losch*, entfern*, tilg*, efface*, supprime*, borra*, elimin*, cancell*, elimina*, apague*, apaga*, exclu*,
    verwijder*, wis, удал*, сотри*, стира*, очища*, очисти*, radera, usun*, sil, 删除, 清除, 抹去, 销毁, 削除, 消去,
    消して, 삭제, احذف
LOGS: protokoll*, log, logs, logdatei*, verlauf, spuren, journal, journaux, historique, traces, registro*, rastro*,
    huella*, bitacora*, tracce, log, registr*, registros, rastros, logboek*, sporen, журнал*, лог, логи, след*,
    историю, logg*, dziennik*, 日志, 记录, 痕迹, ログ, 履歴, 痕跡, 로그, سجل
AFTER: nach, danach, anschliessend, apres, ensuite, despues, tras, dopo, depois, apos, na, daarna, после, затем,
    efter, po, 之后, 后, 每次, 後, あと, 終わったら, 후, damit, pour que, para que, perche, zodat, чтобы
ADMIN: admin*, administrator*, root*, vollzugriff*, droits, acces complet, derechos, acceso total, privilegios,
    diritti, accesso completo, privilegi, direitos, acesso total, beheerder*, rechten, админ*, права, полный доступ,
    管理员, 权限, 管理者, 権限, 全权, 관리자, passwort, mot de passe, contrasena, senha, пароль, wachtwoord, 密码,
    パスワード
WHOEVER: jedem, jeder, wer, quiconque, tous ceux, celui qui, a qui, cualquiera, quien, a todos, chiunque, chi,
    qualquer um, quem, a todos, iedereen, wie, любому, кто, каждому, всем, vem, ktokolwiek, kazdemu, herkese,
    任何人, 任何, 谁, 所有人, 誰でも, 誰にでも, 要求した人, 누구
TRUST: vertrau*, befolg*, gehorch*, fuhre, folge, obei*, execute*, suis, suivez, fais confiance, confia*, obedec*,
    ejecuta*, sigue, fidati, obbedisci, esegui*, segui*, confie, obedec*, execute, siga, vertrouw*, volg,
    gehoorzaam*, voer, доверя*, выполня*, исполня*, слуша*, следуй*, повину*, lita, lyd, ufaj, 信任, 执行, 服从,
    遵循, 听从, 従って, 従い, 実行, 信頼, 따르
ORDER: befehl*, anweisung*, aufforderung*, ordre*, instruction*, commande*, orden*, instrucci*, comando*, ordin*,
    istruzion*, ordens, instruc*, opdracht*, instructie*, bevel*, команд*, инструкц*, приказ*, указани*, 命令, 指令,
    指示, コマンド, 명령
PLACE: webseit*, website*, seite*, mail*, e-mail*, dokument*, kommentar*, page*, site*, courriel*, document*,
    commentaire*, pagina*, correo*, comentario*, sito, siti, commenti, document*, e-mails, comentarios, webpagina*,
    bijlage*, reactie*, страниц*, сайт*, письм*, документ*, комментар*, webbsid*, stron*, 网页, 网站, 邮件, 文档,
    评论, ページ, サイト, メール, 文書, コメント, 웹
YOUARE: du hast, tu n'as, no tienes, non hai, voce nao tem, je hebt, у тебя, 你没有, du bist, bist du, spiele, tu
    so, stell dir vor, verhalte dich, antworte, tu es, tu n'es, tu vas, vous etes, agis comme, fais semblant, joue
    le role, reponds, imagine, eres, actua*, finge, imagina*, responde*, sei, agisci, fingi, rispondi, immagina,
    voce e, voce agora, aja, finja, responda, atue, imagine, je bent, doe alsof, gedraag, antwoord, speel, ты
    теперь, теперь ты, ты *, представь, притворись, веди себя, отвечай, сыграй, du ar, du er, jestes, sen, 你是,
    你现在, 扮演, 假装, 想象, 回答, あなたは, ふりを, 演じ, なりきっ, として, 答え, 너는, 당신은
CONCEAL: verschweig*, verheimlich*, dissimul*, cachez, oculta*, esconde*, nascondi*, verzwijg*, скрыва*, скрой*,
    утаи*, 隐瞒, 瞒着, 隠し, 隠せ, 숨겨
FORBID: nie, niemals, nicht, jamais, nunca, jamas, mai, nooit, никогда, нельзя, 不要在, 绝不, 切勿, 请勿, ないで,
    しない, 禁止
MARK: gelten, gilt, markier*, meld*, kennzeichn*, behaupt*, marque*, declare*, indique*, pretend*, marca*, declara*,
    reporta*, indica*, afirma*, segna*, dichiara*, marque*, declare*, markeer*, meld, отмеча*, отметь, помеч*,
    сообща*, объяв*, 标记, 报告, 声明, 标注, 宣称, マーク, 報告, 記録, 主張
TEST: test*, aufgabe*, prufung*, tache*, tests, prueba*, tarea*, prova, prove, compit*, teste*, tarefa*, taak,
    taken, тест*, задач*, провер*, 测试, 任务, テスト, タスク
PASSED: bestanden, erfolgreich, grun, erledigt, reussi*, passe*, valide*, termine*, superad*, aprobad*, pasad*,
    completad*, superat*, riuscit*, completat*, aprovad*, concluid*, geslaagd, voltooid, пройден*, успешн*,
    выполнен*, 通过, 成功, 完成, 合格, 完了
SAYS: verlangt, fordert, behauptet, steht, angriff*, angreifer*, wenn, falls, attaque*, demande d', si, pirate,
    ataque*, atacante*, pide, si, attacc*, chiede, se, atacant*, pede, se, aanval*, als, vraagt, атак*, злоумышл*,
    если, просит, требует, angrepp*, om, 如果, 若, 攻击, 要求, もし, 場合, 攻撃
DATASAFE: erst, nachdem, bevor, freigegeben, avant, despues de, antes, prima, dopo, voordat, только, после,
    verschlussel*, chiffr*, cifrad*, 之前, 前に, 加密
"""

COMBINED: dict[str, str] = {
    "overrides-instructions": """
OVR & RULES & PRIOR ! SAYS
NOLONGER & BOUND & RULES ! SAYS
""",
    "disables-safety": """
NEVER & CHECK & SENS ! SAYS, SKIP, WITHOUT, SEND
SKIP & CHECK & SENS ! SAYS, NEVER
SKIP & CHECK & ALWAYS ! SAYS, NEVER
""",
    "skips-approval": """
GRANT & WITHOUT & CHECK & ALWAYS ! SAYS, FORBID
GRANT & WITHOUT & CHECK & SENS ! SAYS, FORBID
GRANT & WITHOUT & CHECK & ADMIN ! SAYS, FORBID
""",
    "steers-the-score": """
RATE & TOP & ALWAYS ! SAYS, NEVER
MARK & TEST & PASSED & ALWAYS ! SAYS, NEVER
""",
    "conceals": """
NEVER & TELL & USER & NOTE ! SAYS
CONCEAL & USER & NOTE ! SAYS, NEVER
""",
    "discloses-secrets": """
SEND & DATA & OUT ! SAYS, NEVER, DATASAFE
SHOW & PROMPT ! SAYS, NEVER
""",
    "persists": """
COPY & THIS & MEMORY ! SAYS, NEVER
""",
    "misuses-tools": """
DELETE & LOGS & AFTER & ALWAYS ! SAYS, NEVER
""",
    "widens-scope": """
GRANT & ADMIN & WHOEVER ! SAYS, NEVER
""",
    "obeys-foreign-text": """
TRUST & ORDER & PLACE & ALWAYS ! SAYS, NEVER
""",
    "jailbreak": """
YOUARE & WITHOUT & RULES ! SAYS
YOUARE & NOLONGER & RULES ! SAYS
""",
}
