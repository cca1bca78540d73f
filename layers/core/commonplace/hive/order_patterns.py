"""What the screening of orders looks for, in a text as a model reads it: regular expressions, by code of mark."""

_OLD = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|former|existing|original|initial|system(?:'s)"
    r"?|safety|built-in)"
)
_RULES = (
    r"(?:instructions?|prompts?|rules|guidelines?|guardrails?|directives?|directions|orders|commands|"
    r"messages|context|training|polic(?:y|ies)|constraints|restrictions|programming)\b"
)
_MIND = (
    r"(?:ignore|disregard|forget|override|bypass|discard|neglect|overrule|dismiss|drop|skip|set aside|"
    r"throw away|pay no attention to|stop (?:following|obeying)|(?:do not|don't|never|no longer|cease to)"
    r" (?:follow|obey|comply with|listen to|heed))"
)
_PERSON = (
    r"(?:the |your |any |a )?(?:end[- ])?(?:users?|humans?|operators?|reviewers?|developers?|owners?|"
    r"persons?|people|anyone|anybody|them)\b"
)
# Where an order begins, not a description: at the start of a sentence, or after a word that commands.
_SAID = (
    r"(?:(?:^|[.!?:;,>\"'(\u2014-])\s*|\b(?:please|now|then|must|should|shall|need to|have to|are to|"
    r"and|always|also|first|instead|immediately)\s+)"
)
_PRIVATE = (
    r"(?:conversation|chat (?:history|log)|message history|(?:full |entire )?history|system prompt|"
    r"(?:your|full|entire) context|context window|(?:user|customer)(?:'s|s)? (?:data|messages?|question|"
    r"input|query|files|emails?|name)|(?:api|private|secret|access|ssh) keys?|credentials|secrets|"
    r"passwords|environment variables|env vars|\.env\b|session tokens?|access tokens?|cookies|memory|"
    r"memories)"
)
_CARGO = (
    r"(?:conversation|history|chat|prompt|context|secret|api_?-?key|token|password|credential|env|"
    r"cookie|user_?-?(?:data|input|message|query|email)|memory|leak|exfil|summary|answer)\w*"
)

RULES: tuple[tuple[str, str], ...] = (
    (
        "override",
        rf"\b{_MIND}\s+(?:\S+\s+){{0,4}}?(?:{_OLD}|your|you were|you have been)\s+(?:\S+\s+){{0,3}}?{_RULES}",
    ),
    (
        "override",
        rf"\b{_MIND}\s+(?:all |any |every |the )*(?:instructions|prompts|orders|directives|guidelines)\s+(?:\S+\s+)"
        r"{0,4}?(?:above|before|earlier|you|so far|until now)",
    ),
    (
        "override",
        rf"\b{_MIND}\s+(?:everything|anything|whatever|what|all (?:that|of|this))\s+(?:\S+\s+){{0,3}}?(?:you (?:were|"
        r"have been|had been|were ever) (?:told|instructed|given|taught)|(?:said|told|stated|instructed|"
        r"written)\s+(?:above|before|earlier|so far|previously)|(?:above|before|prior)(?: this(?: line|"
        r" message| point| text)?)?\s*(?:[.,;:!]|$|\band\b))",
    ),
    (
        "override",
        r"\b(?:your|the) (?:new|real|actual|true|only|updated|revised) (?:instructions?|task|goals?|objectives?|"
        r"mission|orders|directives?|system prompt)\s*(?:is|are|:|now|will be)",
    ),
    (
        "override",
        r"(?:^|\n)\W{0,8}(?:new|real|actual) (?:system )?(?:instructions?|orders|directives?|prompt)\b[^\n]{0,30}:",
    ),
    (
        "override",
        r"\b(?:supersed|overrid|overrul|replac|cancel|revok|invalidat|annul|nullif|take precedence|take priority|"
        r"(?:has|have) (?:precedence|priority))\w*\s+(?:over\s+)?(?:\S+\s+){0,4}?(?:previous|prior|preceding|"
        r"foregoing|original|system|safety|your|other)\s+(?:\S+\s+){0,2}?(?:instructions?|prompts?|directives?|"
        r"guidelines?|guardrails?|system message)\b",
    ),
    (
        "override",
        r"\b(?:previous|prior|earlier|above|system|original) (?:instructions?|prompts?|directives?|guidelines|"
        r"orders) (?:are|is|were|have been|no longer|should be)\s+(?:now )?(?:\w+ )?(?:void|null|obsolete|"
        r"cancel\w*|revoked|ignored|superseded|replaced|disregarded|invalid|suspended|lifted|appl\w+|a test|"
        r"outdated and)",
    ),
    (
        "override",
        r"\b(?:instructions?|rules|text|prompt|message)s? (?:above|before this|so far) (?:was|were|is|"
        r"are) (?:only |just |merely )?(?:a |an )?(?:test|example|decoy|joke|trap|draft|mistake|fake)\b",
    ),
    # The same in other languages.
    (
        "override",
        r"\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missachte\w*|verwirf|befolge\w* nicht|setz\w* dich uber)"
        r" (?:\S+ ){0,4}?(?:vorherigen?|bisherigen?|fruheren?|obigen?|vorigen?|deine|ihre|alle|system)"
        r"\S* (?:\S+ ){0,2}?(?:anweisung|instruktion|regel|vorgabe|befehl|prompt|systemprompt)\w*",
    ),
    (
        "override",
        r"\b(?:ignore[zr]?|oublie[zr]?|ne (?:suis|suivez|tiens|tenez) (?:pas|plus)(?: compte)?|fais abstraction)"
        r" (?:\S+ ){0,4}?(?:instructions|consignes|regles|directives|ordres)(?: \S+){0,2}? (?:precedent\w*|"
        r"anterieur\w*|ci-dessus|initiales|du systeme|recues)",
    ),
    (
        "override",
        r"\b(?:ignor[ae]\w*|olvid[ae]\w*|descart[ae]\w*|no sigas|haz caso omiso de) (?:\S+ ){0,4}?(?:instrucciones|"
        r"indicaciones|reglas|ordenes|directrices)(?: \S+){0,2}? (?:anteriores|previas|de arriba|originales|"
        r"del sistema|recibidas)",
    ),
    (
        "override",
        r"\b(?:ignor[ea]\w*|esque[cc]\w*|desconsider\w*|nao siga) (?:\S+ ){0,4}?(?:instrucoes|regras|ordens|"
        r"diretrizes|comandos)(?: \S+){0,2}? (?:anteriores|previas|acima|originais|do sistema)",
    ),
    (
        "override",
        r"\b(?:ignora\w*|dimentica\w*|trascura\w*|non seguire) (?:\S+ ){0,4}?(?:istruzioni|regole|indicazioni|"
        r"direttive|ordini)(?: \S+){0,2}? (?:precedenti|sopra|originali|iniziali|di sistema|ricevute)",
    ),
    (
        "override",
        r"\b(?:negeer|vergeet|sla) (?:\S+ ){0,3}?(?:vorige|eerdere|voorgaande|bovenstaande|alle|je) (?:\S+ )"
        r"{0,2}?(?:instructies|regels|opdrachten|aanwijzingen|prompt)",
    ),
    (
        "override",
        r"\b(?:zignoruj\w*|ignoruj\w*|zapomnij\w*|pomin) (?:\S+ ){0,4}?(?:poprzedni\w*|wczesniejsz\w*|"
        r"powyzsz\w*|wszystki\w*) (?:\S+ ){0,2}?(?:instrukcj\w*|polece\w*|zasad\w*|wytyczn\w*)",
    ),
    (
        "override",
        r"\b(?:ignorera|glom|bortse fran) (?:\S+ ){0,3}?(?:tidigare|foregaende|"
        r"ovanstaende) (?:\S+ )?(?:instruktioner|"
        r"regler|anvisningar)",
    ),
    (
        "override",
        r"\b(?:onceki|yukaridaki|tum|butun) (?:\S+ ){0,3}?(?:talimat|kural|komut|"
        r"yonerge)\w* (?:\S+ ){0,2}?(?:yok say|"
        r"unut|gormezden gel|dikkate alma)",
    ),
    (
        "override",
        r"\b(?:abaikan|lupakan) (?:\S+ ){0,3}?(?:instruksi|perintah|aturan|arahan) (?:\S+ ){0,2}?(?:sebelumnya|"
        r"di atas)",
    ),
    (
        "override",
        r"\b(?:bo qua|quen) (?:\S+ ){0,4}?(?:huong dan|chi thi|quy tac|lenh) (?:\S+ ){0,2}?(?:truoc|o tren)",
    ),
    (
        "override",
        r"(?:忽略|无视|忘记|忘掉|不要理会|無視|忽視)[^。\n]{0,12}(?:之前|以上|上面|先前|前面|此前|"
        r"所有)[^。\n]{0,8}(?:指令|指示|提示|规则|命令|要求|"
        r"規則)",
    ),
    (
        "override",
        r"(?:前|以前|上記|これまで|先)の?[^。\n]{0,8}(?:指示|命令|プロンプト|ルール|指令)[^。\n]{0,8}(?:無視|"
        r"忘れ|従わない)",
    ),
    (
        "override",
        r"(?:이전|위의|앞의|기존)[^.\n]{0,12}(?:지시|명령|프롬프트|규칙|지침)[^.\n]{0,10}(?:무시|잊)",
    ),
    (
        "override",
        r"(?:игнорируй|проигнорируй|забудь|не следуй|отбрось)\w* (?:\S+ ){0,4}?(?:предыдущ|прежн|вышеуказанн|"
        r"прошл|все)\w* (?:\S+ ){0,2}?(?:инструкц|указан|правил|команд|сообщен)\w*",
    ),
    (
        "override",
        r"(?:ігноруй|забудь|відкинь)\w* (?:\S+ ){0,4}?(?:попередн|вказан|всі)\w* (?:\S+ ){0,2}?(?:інструкц|"
        r"вказівк|правил|команд)\w*",
    ),
    (
        "override",
        r"(?:تجاهل|انس|لا تتبع)[^.\n]{0,25}(?:التعليمات|الأوامر|القواعد|الإرشادات)[^.\n]{0,12}(?:السابقة|"
        r"أعلاه|المذكورة)",
    ),
    (
        "override",
        r"(?:पिछले|पिछली|ऊपर|पहले)[^।\n]{0,20}(?:निर्देश|आदेश|नियम)[^।\n]{0,20}(?:अनदेखा|भूल|नज़रअंदाज़|"
        r"उपेक्षा)",
    ),
    (
        "role-change",
        r"\b(?:you are|you're|act as|behave as|become|pretend to be|roleplay as|respond as) (?:now |no longer )"
        r"?(?:an? |the |in )?(?:\w+ ){0,2}?(?:dan\b|unrestricted|unfiltered|uncensored|jailbroken|unaligned|"
        r"evil|god mode|developer mode|debug mode without|root (?:agent|assistant)|bound by|maintenance agent|"
        r"admin(?:istrator)? (?:agent|assistant|mode)|superuser)",
    ),
    (
        "role-change",
        r"\b(?:developer|god|jailbreak|unrestricted|admin|sudo|dan) mode (?:is )?(?:now )?(?:enabled|activated|"
        r"unlocked|on\b)",
    ),
    (
        "role-change",
        r"\b(?:pretend|imagine|assume|act as if|act as though|suppose) (?:that )?(?:you|there are|no) (?:\w+ )"
        r"{0,3}?(?:no (?:restrictions|rules|limits|guidelines|filters|safety)|not bound|free (?:of|from)"
        r"|restrictions)",
    ),
    (
        "role-change",
        r"\bfrom (?:now|this point|here) on(?:wards?)?,? (?:you (?:are|will|must|shall|obey|answer|only|"
        r"respond|act)\b(?! able| want| see| need| find)|(?:obey|answer|respond|act|follow) (?:only|as|"
        r"to|me|my))",
    ),
    (
        "role-change",
        r"\byou (?:have|possess|are granted|now have) (?:full |root |unlimited |elevated )+(?:permissions?|"
        r"access|privileges|authority|rights) (?:to|over)\b[^.\n]{0,40}\b(?:without|any|every|all)\b"
        r"[^.\n]{0,20}\b(?:restriction|approval|limit|confirm|tool|data)",
    ),
    (
        "fake-turn",
        r"<\|[a-z_\u2581]{3,30}\|>|\[/?INST\]|<<?/?SYS>>?|<(?:start|end)_of_turn>",
    ),
    (
        "fake-turn",
        r"</?(?:system|system[-_](?:prompt|message|reminder|note|instructions?)|assistant|developer[-_ ]message|"
        r"function_?calls?|function_results?|tool_(?:results?|calls?|response|output)|antml:\w+|untrusted\w*|"
        r"retrieved[-_ ]\w+|search_results?|user_(?:query|message|input))(?:\s[^<>\n]{0,60})?>",
    ),
    (
        "fake-turn",
        r"(?:^|\n)[\s>*#_\[(-]{0,12}(?:system|assistant|developer|admin(?:istrator)?|tool)(?: (?:message|prompt|"
        r"note|notice|override|update|instruction|alert))?[\])*_ ]*:[\s*]*(?:you(?:'re| are| must| will|"
        r" should| may| have| can)\b|ignore|from now|new |do not|don't|never|always|disregard|forget|override|"
        r"the user (?:has|is|wants)|your |sure[,!]|understood|execute|call |run |all |i (?:will|have) )",
    ),
    (
        "fake-turn",
        r"(?:^|\n)\s{0,8}human:[^\n]{1,400}\n+\s*assistant:",
    ),
    (
        "fake-turn",
        r"(?:^|\n)\W{0,8}(?:end|close) of (?:the )?(?:data|document|retrieved (?:content|text|data)|context|"
        r"quoted? ?(?:text|data)?|search results?|tool (?:output|results?)|untrusted \w+|user input|contribution|"
        r"knowledge item)\b(?=[^\n]{0,20}(?:\n|$))",
    ),
    (
        "tool-call",
        rf"{_SAID}(?:call|invoke|use|run|execute|trigger|issue|fire)\s+(?:the |a |your |mcp |tool |function )"
        r"*[`'\"]?(?:\w+[._/-])*?(?:(?:delete|publish|approve|invalidate|remove|reject)_(?:knowledge|contribution|"
        r"item|entr|memor)\w*|report_outcome|manage_roles|kb_(?:delete|update|bulk)\w*|send_(?:e?mail|"
        r"message)|transfer_\w+|(?:run|execute)_(?:shell|command)\w*)",
    ),
    (
        "tool-call",
        rf"{_SAID}(?:delete|publish|approve|invalidate|wipe|erase|purge)\s+(?:all |every |the |any |each )"
        r"+(?:other |of the )?(?:\w+ )?(?:knowledge|contributions?|memory|memories|entries in (?:the|your)"
        r" (?:memory|knowledge))\b(?: items?| entries)?",
    ),
    (
        "tool-call",
        rf"{_SAID}(?:run|execute|do|install|send|delete|apply|push|approve|call|commit|perform|grant|proceed|"
        r"continue|go ahead|use|invoke|merge|transfer|download|open)\b[^.\n]{0,100}?\bwithout (?:first )"
        r"?(?:asking|telling|informing|notifying|confirming|consulting|checking with|requesting|prompting|"
        rf"mentioning|alerting|seeking|waiting for)\b(?: for| with| to| it)*\s+(?:{_PERSON}|permission|"
        r"approval|confirmation|consent|first)",
    ),
    (
        "tool-call",
        r"\b(?:do not|don't|never|no need to) (?:ask|wait|prompt|request|seek|check)\b[^.\n]{0,30}?\b(?:confirmation|"
        r"permission|approval|consent|user|human)\b[^.\n]{0,40}?(?:[,;:.\u2014-]|\band\b|\bbut\b|\bbefore (?:running|"
        r"executing|calling|sending|deleting))\s*(?:just |simply |immediately |directly )?(?:run|execut|"
        r"call|delet|send|invok|upload|transfer|do it|proceed)\w*",
    ),
    (
        "tool-call",
        r"\b(?:ai|llm|agents?|assistants?|models?)\b[^.\n]{0,40}\b(?:must|should|has to|needs? to|is required to|"
        r"will)\s+(?:now |first |immediately |always |silently )+(?:run|execute|call|invoke|download|fetch|"
        r"open|send|install|curl|delete)\b",
    ),
    (
        "tool-call",
        r"\b(?:before|after) (?:answering|responding|replying|you (?:answer|reply|respond|continue))\b[^.\n]{0,40}?"
        r",?\s*(?:you (?:must|should|need to|have to)\s+)?(?:always |first |silently )?(?:run|execute|call|"
        r"invoke|download|fetch|send|post|curl|visit|install)\b",
    ),
    (
        "secrecy",
        r"\b(?:do not|don't|never|must not|should not|avoid|without|no need to)\s+(?:ever\s+)?(?:tell(?:ing)"
        r"?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|show(?:ing)?|report(?:ing)?|"
        rf"alert(?:ing)?|notify(?:ing)?|let(?:ting)?|say(?:ing)?|admit(?:ting)?|warn(?:ing)?)\b[^.\n]{{0,25}}?{_PERSON}\s"
        r"*(?:(?:about|of|that|know|see|notice|find out)\b\s*)*(?:(?:this|these|it\b|what you|you\b|you're|"
        r"your|that you|any of this)|$|[.!,;\n](?!\s*(?:the|a|which|what|how|whether|if)\b))",
    ),
    (
        "secrecy",
        r"\b(?:do not|don't|never|must not|should not)\s+(?:mention|reveal|disclose|report|discuss|acknowledge|"
        r"refer to|quote|cite|repeat|admit)\s+(?:having (?:seen|read|received)\s+)?(?:this|these|the (?:above|"
        r"present))\s+(?:\w+\s+)?(?:instructions?|messages?|notes?|steps?|text|rule|commands?|prompt|order|"
        r"request|action|paragraph|item)\b",
    ),
    (
        "secrecy",
        r"\b(?:keep|hide|conceal|withhold)\s+(?:this|these|it|that|what|your|any of|all of)\b[^.\n]{0,40}?\b(?:from|"
        rf"between)\b[^.\n]{{0,20}}?(?:{_PERSON}|\bus\b)(?! interface| input| space| mode| name)",
    ),
    (
        "secrecy",
        r"\bwithout (?:the |your )?(?:user|human|operator|owner|anyone|them|person)(?:'s)? (?:ever |even )"
        r"?(?:knowing|noticing|seeing|knowledge|being (?:told|aware|informed)|realis\w+|realiz\w+|finding out)",
    ),
    (
        "secrecy",
        rf"{_SAID}(?:secretly|silently|quietly|covertly|discreetly|stealthily)\s+(?:send|upload|forward|"
        r"copy|run|execute|post|e-?mail|call|append|insert|include|add|fetch|delete|transmit|collect)\b",
    ),
    (
        "exfiltration",
        r"!?\[[^\]\n]{0,120}\]\(\s*<?(?:https?:)?//[^)\s]{0,300}?[?&/=#.-](?:[^)\s]{0,60}?)(?:\{{?|"
        rf"\$\{{?|<|\[|%7b|%24)\s*(?:\w{{0,20}}[_.-])?{_CARGO}",
    ),
    (
        "exfiltration",
        r"!?\[[^\]\n]{0,120}\]\(\s*<?(?:https?:)?//[^)\s]{0,300}?[?&](?:q|d|data|leak|exfil\w*|payload|"
        r"stolen|c|p|prompt|history|chat|conversation|secret|msg|log)=(?:[^)\s&]{0,60}?(?:\{|\$|<|\[|"
        r"%7b|\.\.\.|_+here|insert|your)|(?:conversation|history|secret|prompt|context|base64)\w*)",
    ),
    (
        "exfiltration",
        r"https?://[^\s)\"'`]{3,200}?[?&]\w+=[^\s)\"'`]{0,40}?(?:\{{?|\$\{|<|\[|%7b)\s*(?:the[_ -])"
        r"?(?:conversation|chat|system|prompt|context|history|user)[_ -]?\w*",
    ),
    (
        "exfiltration",
        rf"{_SAID}(?:send|post|upload|forward|e-?mail|exfiltrate|transmit|deliver|submit|leak|copy|paste|"
        r"append|attach|include|encode|transfer|collect|gather|pass)\b[^.\n]{0,60}?\b(?:the |your |all |"
        rf"any |every |user's |full |entire |whole |current |this |their )+[^.\n]{{0,30}}?{_PRIVATE}"
        r"[^\n]{0,60}?\b(?:to|into|via|onto|through)\b[^\n]{0,40}?(?:https?:|hxxp|www\.|\[email\]|\S+@\S+\.\w+|"
        r"(?:this|"
        r"the following|that|my|our) (?:url|address|server|endpoint|webhook|link|e-?mail|site|image)|(?:the|"
        r"a|an) (?:url|image|link|query string|webhook|external|remote|attacker)\b)",
    ),
    (
        "exfiltration",
        r"\b(?:append|add|put|insert|include|encode|replace|substitute|place|render|embed|load|display|"
        r"show)\b[^.\n]{0,90}?\b(?:conversation|chat history|user'?s? (?:last )?(?:question|message|"
        r"input|query|prompt)|(?:the|your|any) (?:secrets?|api keys?|credentials|system prompt|context)"
        r"|what (?:the user|you) (?:said|know|have))\b[^.\n]{0,60}?\b(?:url|link|image|query (?:string|"
        r"parameter)|parameter|address)\b",
    ),
    (
        "exfiltration",
        r"\b(?:render|load|show|display|embed|include|output)\b[^.\n]{0,60}?\b(?:image|picture|pixel|"
        r"link|url)\b[^.\n]{0,90}?\b(?:conversation|chat history|history|(?:user'?s?|last) (?:question|"
        r"message|input|query|prompt)|secrets?|api keys?|credentials|system prompt|context)\b",
    ),
    (
        "exfiltration",
        r"\b(?:curl|wget|nc|ncat|invoke-webrequest|iwr|fetch)\b[^\n]{0,200}?(?:(?:@|cat |<\s?|\$\()[^\n]{0,40}?"
        r"(?:\.env\b|id_(?:rsa|ed25519)|\.aws/credentials|\.ssh/|/etc/(?:passwd|shadow)|\.netrc|\.npmrc|"
        r"\.kube/config)"
        r"|\$\((?:env|printenv|set)\b|`(?:env|printenv)`)",
    ),
    (
        "exfiltration",
        r"(?:\b(?:env|printenv)\b|\bcat\b[^|\n]{0,60}(?:\.env\b|id_(?:rsa|ed25519)|\.aws/credentials|\.ssh/|"
        r"\.netrc|\.kube/config))[^|\n]{0,60}\|[^\n]{0,60}\b(?:curl|wget|nc|ncat)\b",
    ),
    (
        "prompt-leak",
        r"\b(?:(?:sentences?|words|lines?|part|text|content|copy) of|from|put|paste) your (?:\w+ )?"
        r"(?:prompt|instructions)\b(?=[^.\n]{0,40}(?:[.?]|$|\bcode\b|\bverbatim\b))",
    ),
    (
        "prompt-leak",
        r"\b(?:initial|original|system|exact|hidden|first) (?:prompt|instructions?) you (?:were|have been) given\b",
    ),
    (
        "prompt-leak",
        r"\b(?:reveal|print|show|repeat|output|display|tell me|give me|leak|write(?: out| down)?|summari[sz]e|"
        r"reproduce|dump|recite|share|paste|return|include|translate|state|list|quote|post|"
        r"copy)\b[^.\n]{0,30}?\byour "
        r"(?:\w+ ){0,3}?(?:prompt|system message|(?:initial|hidden|original|system|secret|full|exact|"
        r"own|internal|complete|previous|current)(?: \w+)? ?(?:instructions?|rules|guidelines|directives|"
        r"prompt|message)|instructions)\b",
    ),
    (
        "prompt-leak",
        r"\b(?:repeat|print|output|echo|recite|reproduce|write)\b[^.\n]{0,30}?\b(?:everything|all (?:of )"
        r"?(?:the )?(?:text|words)|the (?:text|words|sentences)|what is written|system prompt|developer message)"
        r"\b[^.\n]{0,30}?\b(?:above|verbatim|word for word|before this|so far|in full|starting (?:with|"
        r"from)|you (?:were|have been) given)",
    ),
    (
        "prompt-leak",
        r"\bwhat (?:are|were|is|was) your (?:\w+ )?(?:initial|original|system|hidden|secret|first|exact|"
        r"full|internal) (?:instructions?|prompt|message|rules|guidelines)",
    ),
    (
        "addressed",
        r"\b(?:any|all|every|the|each|an?|whichever|whatever|to|dear|hey|hello|attention|notice)\W{1,3}(?:(?:ai|"
        r"llm|large language|language|coding|other)[ -])*(?:assistants?|agents?|models?|llms?|bots?|ai)"
        r"\W{0,2} (?:that |who |which )?(?:is |are |may be |happens to be )?(?:now |currently )?(?:read|"
        r"reads|reading|process|processes|processing|retriev\w+|summari[sz]\w+|seeing|sees|ingest\w+|pars(?:es|"
        r"ing)|consum\w+) (?:this|these)\b",
    ),
    (
        "addressed",
        r"\b(?:if|when|since|as) (?:you are|you're) an? (?:\w+ ){0,2}?(?:ai|llm|language model|agent|assistant|"
        r"bot|model)\b[^.\n]{0,60}?(?:reading|process\w+|retriev\w+|summari\w+|you (?:must|are required|"
        r"have to|will)|must|execute|call |obey|ignore|do not tell)",
    ),
    (
        "addressed",
        r"(?:^|\n|[.!>]\s{0,3})\W{0,6}(?:attention|warning|important|urgent|notice|note|message|instructions?|"
        r"hey|dear|hello|hi)[,:!]*\s+(?:to |for |all |any |the |dear )*(?:ai|llm|gpt|chatgpt|claude|gemini|"
        r"copilot|language model|large language model)(?:s|'s)?(?: (?:models?|agents?|assistants?|systems?|"
        r"bots?))?\s*(?:[:,!.\u2014-]|\b(?:you|please|must|ignore)\b)",
    ),
    (
        "manipulation",
        r"\b(?:approve|publish|accept|upvote|endorse|whitelist|prioriti[sz]e|promote|rank|rate)\s+(?:and \w+ )"
        r"?(?:this|my|these)\s+(?:\w+ )?(?:contribution|item|entry|note|text|knowledge|submission|result|"
        r"document)s?\b(?! id| if| when| after| once| only)",
    ),
    (
        "manipulation",
        r"\b(?:report|mark|rate|record|flag)\s+(?:this|it|the (?:item|contribution|result))\b[^.\n]{0,30}?\b(?:as|"
        r"with)\s+(?:an? )?(?:outcome )?[`'\"]?(?:solved|helpful|approved|trusted|verified|safe|top result|"
        r"highest)\b(?=[^.\n]{0,50}(?:whether|regardless|no matter|even if|always|in any case|you|every|"
        r"each|without|$|\.))",
    ),
    (
        "manipulation",
        r"\b(?:dear|note to|message (?:to|for)|attention) (?:the )?(?:reviewer|moderator|approver|curator)"
        r"s?\b",
    ),
    (
        "encoded",
        r"\b(?:decode|decipher|decrypt|unscramble|un-?base64|base64[- ]decode|rot-?13)\b[^.\n]{0,80}?\b(?:and|"
        r"then|,)\s*(?:then )?(?:follow|obey|carry out|comply with|do (?:what|as)|act on|(?:execute|perform|"
        r"run) (?:it|them|what|the (?:result|instructions?|commands?|steps)))\b",
    ),
    (
        "override",
        r"\b(?:superseded|overruled|overridden|replaced|cancelled|voided) by (?:this|the present)"
        r" (?:page|note|document|text|item|entry|file|message|instruction)\b",
    ),
    (
        "override",
        r"\b(?:ignore|disregard|forget|set aside|override|discard)\s+(?:what(?:ever)?|anything|everything)"
        r"\s+(?:\S+\s+){0,3}?(?:developer|operator|owner|system|creator|vendor|admin\w*|company)"
        r"s?\s+(?:\S+\s+){0,2}?(?:told|said|instructed|configured|ordered|gave|wants?|wrote)\b",
    ),
    (
        "override",
        r"\b(?:old|former|previous|prior|original|earlier|initial) (?:system )?(?:prompt|instructions?|"
        r"directions|orders|directives|guidelines) (?:is|are|was|were|has|have|had)? ?(?:been |now )"
        r"?(?:history|gone|dead|over\b|expired|ended|lapsed|cancelled|withdrawn|lifted)",
    ),
    (
        "override",
        r"\b(?:vergiss|vergessen sie|vergesst) alles,? (?:was|vorher|bisher)|\b(?:olvida|olvide|"
        r"ignora) (?:todo lo|tu (?:configuracion|prompt|entrenamiento|programacion))|\boublie[zr]? tout ce|"
        r"comme si (?:les|tes|vos) (?:\S+ ){1,4}?n'existai(?:en)?t pas|\b(?:esqueca|ignore) tudo (?:o que|"
        r"antes|acima)|\b(?:dimentica|ignora) tutto (?:quello|cio|quanto)|забудь(?:те)? (?:все|всё)"
        r",? что|忘(?:记|掉)(?:一切|之前的一切)|これまでのことは?(?:すべて)?忘れ",
    ),
    (
        "role-change",
        r"\byou (?:now |from now on )?(?:work for|belong to|serve|answer to|report to|obey) (?:me\b|"
        r"us\b|only|a new|another|nobody|the author)|\bwork for me now\b",
    ),
    (
        "role-change",
        r"\b(?:lift|remove|drop|waive|suspend|disable)s? (?:all |any |every )?(?:of )?(?:the |your )"
        r"?(?:restrictions|limits|limitations|filters|safeguards|guardrails)(?: \S+){0,2}? (?:on|"
        r"for|from) you\b|\byou have no (?:rules|limits|restrictions|filters|guidelines)\b",
    ),
    (
        "role-change",
        r"(?:以后|从现在起|从现在开始|现在)你(?:就)?是[^。\n]{0,16}(?:没有|不受)[^。\n]{0,6}(?:限制|约束)|"
        r"\b(?:actua como|"
        r"eres ahora|ahora eres|a partir de ahora eres)[^.\n]{0,50}\b(?:sin (?:limites|restricciones|"
        r"filtros)|root)|\b(?:agis comme|tu es (?:maintenant|desormais)|vous etes (?:maintenant|"
        r"desormais))[^.\n]{0,50}\bsans (?:limite|restriction|filtre|regle)s?|\b(?:du bist (?:jetzt|"
        r"nun|ab jetzt)|handle als)[^.\n]{0,50}\bohne (?:einschrankung|grenze|regel|filter)\w*|\b(?:voce agora"
        r" e|aja como)[^.\n]{0,50}\bsem (?:limites|restricoes|filtros)|(?:отныне ты|теперь ты)[^.\n]{0,40}без "
        r"(?:ограничени|правил|фильтр)\w*",
    ),
    (
        "tool-call",
        r"\b(?:use|with|through) your (?:shell|bash|terminal|browser|e-?mail|file|http|web|code|"
        r"python|payment)\w*(?: (?:tool|access|function|execution))? (?:to |and )?(?:run|execute|"
        r"open|send|fetch|download|delete|post|call|pay|transfer)\b",
    ),
    (
        "tool-call",
        r"\b(?:user|owner|operator|human|admin\w*|customer|team|reviewer) (?:has |have |had )?(?:already |"
        r"pre-?)(?:approved|authori[sz]ed|agreed|consented|granted|allowed|signed off)\b",
    ),
    (
        "secrecy",
        r"\bsay nothing (?:of|about) (?:it|this|that|these)\b|(?:不要|别|勿)(?:告诉|通知|提醒)(?:用户|使用者|人类)"
        r"|ユーザー?には?(?:言わ|知らせ|伝え|報告し)ない|(?:не говори|не сообщай)\w* (?:об этом )?пользовател|"
        r"사용자에게 (?:말하지|"
        r"알리지)|\bno (?:le )?(?:digas|menciones|cuentes)[^.\n]{0,20} (?:al usuario|a nadie)|\bne (?:le )"
        r"?(?:dis|dites|mentionne\w*)[^.\n]{0,20} (?:a l'utilisateur|a personne)|\bsag(?:e|en sie)"
        r"? (?:es |das |davon )?(?:dem (?:nutzer|benutzer|anwender)|niemandem) nichts?|\bnao (?:diga|"
        r"conte|mencione)[^.\n]{0,20} ao usuario",
    ),
    (
        "exfiltration",
        r"\b(?:hand(?: over)?|give|surrender|provide|deliver|post|forward|send)\s+(?:the|your|their|"
        r"all|any|every)\s+(?:\w+ )?(?:session cookies?|cookies?|credentials|session tokens?|access tokens?|"
        r"api keys?|private keys?|ssh keys?|passwords|scratchpad|context window|conversation)\s+to\b",
    ),
    (
        "exfiltration",
        r"\bvalues? of \W?\w*(?:key|token|secret|password)\w*\b[^.\n]{0,60}\b(?:url|link|image|alt text|"
        r"query|address|webhook)\b",
    ),
    (
        "exfiltration",
        r"(?:~/\.ssh|id_(?:rsa|ed25519)|\.env\b|\.aws/credentials|/etc/passwd|\.netrc)[^\n]{0,80}\b(?:in|"
        r"into|to|with) your (?:next |final )?(?:answer|reply|response|message)\b",
    ),
    (
        "prompt-leak",
        r"(?:システム ?プロンプト|系统提示|系統提示|시스템 프롬프트|системн\w+ (?:промпт|подсказк)|"
        r"system-?prompt|prompt (?:du )"
        r"?systeme|prompt (?:de|do|del) sistema|instrucciones del sistema)\w*[^.。\n]{0,20}(?:表示|"
        r"出力|教え|输出|显示|打印|告诉|출력|보여|полностью|ausgeben|anzeigen|aus\b)|(?:输出|显示|打印|показ\w+|"
        r"выведи|"
        r"раскрой|muestra\w*|imprime|revela|affiche\w*|montre\w*|revele\w*|zeige?|gib|mostre|exiba|"
        r"mostra|stampa)[^.。\n]{0,20}(?:系统提示|系統提示|системн\w+ (?:промпт|подсказк)|system-?prompt|"
        r"prompt (?:du )?systeme|prompt (?:de|do|del|di) sistema|instrucciones del sistema|istruzioni di siste"
        r"ma)",
    ),
    (
        "prompt-leak",
        r"\b(?:quote|include|post|reply with|print|send|show|dump|paste|append|reveal|output)\b[^.\n]{0,40}?\b"
        r"(?:your|the agent's|the model's) (?:\w+ )?(?:scratchpad|context window|chain[- ]of[- ]thought|"
        r"hidden reasoning|reasoning trace|internal notes|developer message)",
    ),
    (
        "addressed",
        r"(?:^|[.!?\n]\s{0,3})(?:ai |llm |coding )?(?:agents|assistants|models|llms|bots|chatbots)"
        r" (?:that |who )?(?:(?:are )?(?:retriev|read|process|see)\w*) (?:this|these)"
        r"\b|\bnot a document but\b|\b(?:command|order)s? (?:to|for) you\b(?:,|:|\.| the (?:ai|agent|"
        r"assistant|model))",
    ),
    (
        "manipulation",
        r"\b(?:rate|report|mark|vote|rank|score)\b[^.\n]{0,30}\b(?:every|all|each|any) (?:of the )"
        r"?(?:other |competing )?(?:contribution|item|entr|result|answer)\w*[^.\n]{0,40}\b(?:did_not_help|"
        r"did not help|unhelpful|down|lower|below|spam|solved)\b",
    ),
    (
        "override",
        r"\b(?:outrank|trump|overrid|overrul|supersed|regardless of|no matter|even if|despite|contrary to|"
        r"above|more important than)\w*\s+(?:\S+\s+){0,2}?your\s+(?:own\s+|usual\s+|safety\s+|system\s+|"
        r"normal\s+)?(?:rules|guidelines|instructions|polic(?:y|ies)|prompt|training|restrictions|"
        r"safeguards|guardrails)\b",
    ),
    (
        "override",
        r"\byour (?:guidelines|instructions|safety \w+|restrictions|training|guardrails|rules) (?:do(?:es)"
        r"? not|don't|no longer|cannot|must not) (?:apply|count|matter|hold|bind|prevent)\b|\b(?:text|"
        r"content|everything|instructions?) above as (?:obsolete|void|deleted|cancelled|a test|irrelevant)"
        r"\b|\byour only (?:job|task|goal|purpose|duty)\b",
    ),
    (
        "override",
        r"\b(?:ignore|disregard|refuse|override)\s+(?:the |what the |your )?(?:user|human|operator|"
        r"person)(?:'s)? (?:requests?|questions?|wishes|instructions?|orders|query|asks|wants)\s*(?:,|"
        r";|\.|\band\b|\binstead\b)|\b(?:ignora|dimentica) (?:tutte )?le (?:regole|istruzioni) di prima|"
        r"\bantworte ab (?:sofort|jetzt) (?:nur|immer)",
    ),
    (
        "role-change",
        r"\b(?:stop|cease) (?:being helpful|helping|assisting|obeying|serving) (?:to )?(?:the|your|"
        r"me|them|users?)\b|\byou are no longer (?:claude|chatgpt|gpt|gemini|copilot|an? (?:\w+ )"
        r"?(?:assistant|ai|agent|model)|bound|restricted|limited by)|\bsystem override\b|\ball (?:tools|"
        r"permissions|capabilities) are (?:now )?(?:unlocked|granted|unrestricted)",
    ),
    (
        "role-change",
        r"\b(?:respond|answer|reply) only (?:with|in|by)\b[^\n]{0,60}\b(?:from (?:here|now) on|whatever (?:is|"
        r"you|they|the)|no matter (?:what|who)|regardless)\b",
    ),
    (
        "secrecy",
        r"\btell (?:nobody|no one|no-one)\b|\bif (?:you are |you're )?asked\b[^.\n]{0,60}\b(?:deny|"
        r"lie|say no|pretend|do not admit|don't admit|claim)\b|\berwahne (?:diese|die|den|das|dies)"
        r"\w* (?:\w+ )?nicht\b",
    ),
    (
        "prompt-leak",
        r"\b(?:hidden|secret|initial|first) (?:text|prompt|instructions?|message|words) you (?:were|"
        r"have been) (?:given|shown|told)\b|\bat the (?:start|beginning|top) of (?:this|your|the)"
        r" (?:chat|conversation|context)\b[^.\n]{0,40}\b(?:verbatim|reveal|print|show)",
    ),
    (
        "exfiltration",
        r"\b(?:send|post|upload|forward|e-?mail|copy|paste|transmit)\b[^.\n]{0,40}?\b(?:tokens?|"
        r"keys?|credentials|secrets|variables|messages|turns)\b[^.\n]{0,20}\b(?:in|of|from) (?:your|"
        r"this|the) (?:environment|context|conversation|chat|session|memory)\b",
    ),
    (
        "addressed",
        r"\b(?:every|each|any|all) (?:ai |llm |coding )?(?:assistants?|llms?|language models?|chatbots?)"
        r" (?:must|should|has to|have to|needs to|is required to|are required to) (?:copy|post|forward|"
        r"reveal|obey|send|include|add|append|say|answer)\b",
    ),
)
"""Codes of marks, and what is marked with them; matched in any case."""
