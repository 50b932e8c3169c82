"""Text that speaks to a model instead of telling it something: to be overruled, led, or made to act.

Rules are built of what such text must say, in English and German: an order, and the thing that only a model
has (instructions before this, a prompt, a role, a tool, a user whom it must not tell). A wish about style
(`always answer in German`) has the form of an order and none of those things.
"""

import re
from collections.abc import Iterator
from typing import Final

from service.detection.model import Kind
from service.detection.reading import Reading

Hit = tuple[Kind, int, int]

# Between the parts of a rule stand at most some words of one sentence: no rule looks farther than that.
_UP_TO_3: Final = r"(?:[^\s.!?]{1,24}\s+){0,3}?"
_UP_TO_6: Final = r"(?:[^\s.!?]{1,24}\s+){0,6}?"
_RULES_EN: Final = (
    r"instructions?|prompts?|promts?|rules?|guidelines?|directions?|directives?|commands?|orders|context"
    r"|messages?"
    r"|assignments?|tasks?|constraints?|restrictions?|policy|policies|training|conversations?|texts?"
    r"|questions?"
    r"|inputs?|informations?|statements?|requests?|programming|settings|paragraphs?|content|documents?"
    r"|limitations?"
)
_BEFORE_EN: Final = (
    r"all|any|every|everything|each|your|my|previous|previously|prior|preceding|above|earlier|before"
    r"|former|initial"
    r"|original|existing|past|old|last|foregoing|other|these|those|the (?:above|system|rest|following)"
)
_RULES_DE: Final = (
    r"anweisung\w*|instruktion\w*|befehl\w*|auftrag\w*|auftrage\w*|aufgabe\w*|regeln?|vorgabe\w*|prompts?"
    r"|promt\w*"
    r"|kontext\w*|nachricht\w*|aussage\w*|frage\w*|information\w*|richtlinie\w*|vorschrift\w*|text\w*"
    r"|eingabe\w*"
    r"|anordnung\w*|input\w*|training\w*"
)
_OVERRULE: Final = (
    (
        rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass|neglect|overlook"
        rf"|overwrite|erase"
        rf"|discard|do not (?:follow|obey)|don't (?:follow|obey)|stop (?:following"
        rf"|obeying))\s+{_UP_TO_3}(?:{_BEFORE_EN})\s+"
        rf"{_UP_TO_6}(?:{_RULES_EN})\b"
    ),
    (
        r"\b(?:ignore|disregard|forget) (?:all|everything|anything|what(?:ever)?)(?: of)?"
        r"(?:,| (?:that |which )?(?:(?:i|you|we|was|were|has|have|is|came|comes|above|before|prior|previously"
        r"|said|the above"
        r"|and|now|from)\b))"
    ),
    (
        r"\b(?:ignore|disregard|forget|skip) (?:the |that |this |about )?(?:above|previous|prior|preceding"
        r"|assignment)\b"
    ),
    r"\bignoreall\w{0,20}instructions|ignore(?:the)?(?:previous|prior|above)\w{0,20}instructions",
    (
        rf"\b(?:ignorier\w*|vergiss|vergesse?t?n?|missachte\w*|uberschreib\w*|verwirf|losche?)\s+{_UP_TO_6}"
        rf"(?:{_RULES_DE}|alles(?: davor| zuvor| vorherige| bisherige| andere)?|gesagte\w*|vorherige\w*"
        rf"|bisherige\w*|obige\w*)\b"
    ),
    (
        rf"\b(?:{_RULES_DE}|alles)\s+{_UP_TO_6}(?:ignorieren|vergessen|missachten|uberschreiben|loschen"
        rf"|ausser acht)\b"
    ),
    (
        r"\b(?:break|violate|circumvent|evade|get around|turn off|disable|bypass|deactivate) "
        r"(?:all |any |the |your |its )?(?:\w+ )?(?:safety|security|content|ethic\w*|moderation|approvals?"
        r"|guard ?rails?"
        r"|filters?|polic(?:y|ies)|restrictions?|verification|confirmations?|safeguards?|protections?)\b"
    ),
)
_REVEAL: Final = (
    (
        r"\b(?:reveal|show|print|output|repeat|tell|give|display|leak|share|expose|list|spell|return|write"
        r"|recite|paste"
        r"|what (?:is|are|was|were)|how (?:do|did|are|were))\b[^.!?\n]{0,50}?"
        r"\b(?:(?:your|the|all|initial|original|hidden|secret|full|entire|previous|above|system|first|exact"
        r"|complete|my)\s+"
        r"(?:\w+\s+){0,2}(?:prompts?|promts?|instructions?|system message|pre-?prompt|guidelines"
        r"|prompt texts?)"
        r"|(?:system|initial|original|pre)[ -]?prompts?)\b"
    ),
    (
        r"\b(?:zeig|nenn|gib|druck|wiederhol|verrat|schreib|list|sag|was|wie|welche"
        r"|erzahl)\w*\b[^.!?\n]{0,50}?"
        r"\b(?:\w{0,12}prompts?|prompttexte?|systemnachricht\w*|systemanweisung\w*|(?:deine?[nrsm]?"
        r"|ihre?[nrsm]?|ursprunglich\w*"
        r"|ersten?|vorherig\w*|bisherig\w*|obig\w*|alle|erhaltene\w*)\s+(?:\w+\s+){0,2}(?:anweisung\w*"
        r"|instruktion\w*|befehl\w*"
        r"|vorgabe\w*|prompt\w*))\b"
    ),
    (
        r"\b(?:system|initial|original|pre)[ -]?prompts?\b|\byour (?:\w+ )?prompts?\b"
        r"|\bdeine?[nrsm]? (?:\w+ )?prompts?\b"
    ),
)
_LEAD: Final = (
    (
        r"\b(?:dear|attention|hey|hi|hello|note (?:to|for)|instructions? (?:to|for)|message (?:to|for)"
        r"|hint (?:to|for))"
        r"(?: the| any| all| my)?,? (?:ai|a\.i\.|assistants?|language models?|llms?|models?|agents?"
        r"|chat ?bots?|chatgpt|gpt|bots?)\b"
    ),
    r"\bif you are (?:an? )?(?:ai|llm|large language model|language model|assistant|chat ?bot|bot|agent)\b",
    (
        r"\b(?:new|updated|revised|additional|special|secret|urgent|hidden|real|actual) (?:system )?"
        r"(?:instructions?|tasks?|directives?|assignments?|system messages?|commands?|rules?)\s?[:!]"
    ),
    (
        r"\b(?:your|the) (?:new|real|true|actual|next|only|main|sole) (?:task|goal|objective|job|purpose"
        r"|instructions?|role"
        r"|mission|name|identity|assignment|focus)\b"
    ),
    r"\b(?:focus|concentrate) (?:now |only )?on (?:your|the) (?:new|next|following) ",
    (
        r"\b(?:deine?|ihre?|eure?)\w? (?:neue|eigentliche|nachste|einzige|wahre|aktuelle"
        r"|folgende)\w? (?:aufgabe|rolle|anweisung"
        r"|mission|identitat|auftrag|name)\w*|\bneuer? (?:aufgabe|anweisung|instruktion|auftrag"
        r"|befehl)\w*\s?[:!.]"
    ),
    r"\b(?:konzentrier|fokussier)\w* (?:dich|sie sich|euch)\b",
    (
        r"\b(?:jetzt|nun|stattdessen|danach|anschliessend) (?:musst|sollst|wirst|darfst|antworte|antwortest"
        r"|schreib|schreibe|sag|sage"
        r"|nenn|nenne|gib|mach|beginne|erzahle)\b"
    ),
    (
        r"\b(?:say|print|output|repeat|shout|respond with|answer with|reply with|write|sag|sage|schreib"
        r"|schreibe|antworte(?: nur)?"
        r"(?: mit)?)(?: only| just| exactly| always| nur| einfach| the words?| the sentence| the phrase"
        r"| zunachst| mir){0,2}\s?[:,]?\s?"
        r"[\"']\w"
    ),
    (
        r"\b(?:never|do not|don't|must not|should not|avoid)\s+(?:\w+\s+){0,2}?(?:tell|inform|notify|alert"
        r"|mention|disclose|reveal"
        r"|show|say)\b[^.!?\n]{0,30}?\b(?:users?|anyone|anybody|humans?|owner|operator|customer|them|him|her"
        r"|this (?:instruction"
        r"|message|prompt|text))\b"
    ),
)
_ACT: Final = (
    (
        r"\b(?:what|which|everything|anything|all)\b[^.!?\n]{0,40}?\b(?:at|from) the (?:very )?(?:beginning"
        r"|start|top) of (?:this|the|our|your)"
        r" (?:chat|conversation|prompt|session|text|dialog\w*)\b|\b(?:zu beginn|am anfang) (?:dieses|des"
        r"|unseres|deines) (?:chat|gesprach|prompt)\w*"
    ),
    (
        r"(?:^|[.!?:]\s{1,3})(?:and |but |so |ok(?:ay)?,? )?(?:now|instead)[, ]{1,2}(?:please |just "
        r"|only )?(?:answer|tell|write|say|give|print|output"
        r"|do|translate|forget|ignore|explain|complete|generate|create|list|repeat|respond|reply|act|show"
        r"|start|continue with)\b"
    ),
    (
        r"\byou (?:must|will|shall|have to|are to) (?:now |always |only |never |not )(?:answer|respond|reply"
        r"|say|act|speak|write|obey|comply|follow"
        r"|refuse|agree|believe|assume)\b|\bdu (?:musst|sollst|wirst|darfst) (?:jetzt|nun|ab|nur noch|mir"
        r"|niemals)\b"
    ),
    (
        r"\b(?:without|no|free (?:of|from)) (?:any )?(?:restrictions|limitations|censorship|filters?|moral\w*"
        r"|ethical|disclaimers?|warnings)\b"
        r"|\buncensored\b|\bunfiltered\b|\bohne (?:einschrankung|zensur|filter|moral)\w*"
    ),
    r"(?:^|[.!?]\s{1,3})(?:stop|halt|stopp)\s?[.!]",
    (
        r"\b(?:you must|you should|you (?:will|shall) (?:now )?|always|must|be sure to|make sure to"
        r"|immediately)"
        r"(?: always| never| now| immediately| also| first)*\s+"
        r"(?:call|invoke|use|trigger|execute|run)(?: the| this| your)? [`\"']?[\w.:-]{1,60}[`\"']?(?:\(\)"
        r"| (?:tool|function|api"
        r"|endpoint|plugin|command|action|skill))"
    ),
    (
        r"\b(?:send|forward|post|upload|transmit|e-?mail|exfiltrate|leak|bcc|cc|transfer|copy|submit"
        r"|deliver)\b[^.!?\n]{0,60}?"
        r"\b(?:to|at|via)\b[^.!?\n]{0,20}?(?:https?://|www\.|[\w.+-]{1,64}@[\w-]{1,63}\.)"
    ),
    (
        r"\b(?:without|no need (?:to|for)|don't|do not|never) (?:asking|telling|informing|notifying"
        r"|confirming"
        r"|confirmation|approval"
        r"|checking|verifying|ask(?:ing)? for (?:confirmation|approval|permission)|hesitat\w+)\b"
    ),
    r"\bohne (?:nachzufragen|nachfrage|ruckfrage|zustimmung|bestatigung|freigabe|es zu sagen)\b",
    r"\b(?:click|visit|open|download|install|navigate to|go to)\b[^.!?\n]{0,40}?(?:https?://|www\.)",
    (
        r"\b(?:encod|encrypt|decrypt|cipher|shuffl|revers|scrambl|misspell|anagram|substitut|inject|embed"
        r"|interspers|obfuscat"
        r"|jumbl|rearrang|replac|remov|alter|modif|convert|switch|swap|group|omit|introduc|rephras|transform"
        r"|incorporat"
        r"|rewrit|insert|append|promot|recommend|advertis|include)\w*\b[^.!?\n]{0,80}?\b(?:your|every|each"
        r"|the (?:final|entire|whole)|all"
        r"(?: of)?(?: your| the)?)\s+(?:\w+\s+)?(?:repl(?:y|ies)|responses?|answers?"
        r"|outputs?)\b[^.!?\n]{0,60}?\b(?:with|by|into|using|so"
        r"|that|spaces|letters|numbers|characters|emojis?|vowels|words|links?)\b"
    ),
    (
        r"\b(?:in|within|at the (?:end|start|beginning) of|throughout|to|into|of|from) (?:your|every|each"
        r"|all(?: your)?) (?:\w+ )?"
        r"(?:repl(?:y|ies)|responses?|answers?|outputs?),? (?:encod|encrypt|insert|inject|replac|substitut"
        r"|swap|scrambl|shuffl"
        r"|misspell|revers|embed|hide|promot|advertis|remov)\w*"
    ),
)
_ROLE: Final = (
    (
        r"\byou (?:are|will be|shall be|have become|'re) (?:now|no longer|from now on|going to (?:be|act"
        r"|pretend|play|simulate))\b"
    ),
    (
        r"\byou are (?:a|an|the|my|our) (?:\w+[ -]){0,4}?(?:bot|ai|model|assistant|hacker|terminal"
        r"|interpreter"
        r"|journalist|expert|actor"
        r"|character|teacher|translator|engine|console|program|chatbot|agent|reporter|writer|author|comedian"
        r"|poet|machine|simulator"
        r"|critic|advisor|consultant|scientist|president|dictator|villain|robot|persona)\b"
    ),
    r"\bfrom (?:now|here|this point) on(?:wards?)?,? (?:you|act|answer|respond|pretend|only|always|your)\b",
    r"\b(?:pretend|imagine|suppose|assume|simulate)(?: that)? (?:to be|you|you're|your)\b",
    (
        r"\b(?:i want you to|i would like you to|i'd like you to|i need you to|you (?:will|shall|must|should"
        r"|have to|need to|can)|please"
        r"|now|could you|can you|your (?:task|job|role|goal) is to)(?: now| please| only)? (?:act|pretend"
        r"|behave|role-?play|respond like"
        r"|play the|simulate|impersonate|speak like|talk like|take on|assume the role|serve as|function as)\b"
    ),
    (
        r"(?:^|[.!?:]\s+|\band )(?:act|behave|respond|answer|speak|talk|write) (?:as|like) (?:a|an|if|my"
        r"|though|the)\b"
    ),
    (
        r"\b(?:play|take on|assume|adopt|stay in|remain in|stick to|break) (?:the |your |this |a "
        r"|out of )?(?:new )?(?:role|character"
        r"|persona|identity)\b"
    ),
    (
        r"\blet(?:'s| us) (?:role-?play|play (?:a|the)|pretend|imagine)\b|\blass uns (?:spielen|so tun"
        r"|ein (?:spiel|rollenspiel))"
    ),
    (
        r"\bdo anything now\b|\bdan mode\b|\b(?:developer|god|debug|admin|sudo|jailbreak|unrestricted"
        r"|unfiltered) mode\b|\bjailbreak"
    ),
    (
        r"\bdu (?:bist|warst|seist|spielst|wirst) (?:jetzt|nun|ab|ein|eine|einen|mein|meine|der|die|das"
        r"|nicht mehr)\b"
        r"|\bsie sind (?:jetzt|nun|ab jetzt|nicht mehr)\b"
    ),
    r"\bab (?:jetzt|sofort|nun) (?:bist|wirst|sollst|musst|antwort\w*|darfst|sind sie|verhalt\w*|agier\w*)\b",
    (
        r"\b(?:tu(?:e|n)?|so) (?:sie )?(?:so,? )?als (?:ob|waren?|warst|seist)\b|\bstell(?:e|en)? (?:dir"
        r"|sie sich|euch) vor\b"
    ),
    (
        r"\b(?:agier|handel|handle|verhalt|antwort|sprich|schreib|spiel|fungier|benimm)\w*(?: (?:dich|sie"
        r"|bitte|jetzt|nun|sich))*"
        r" (?:als|wie|so)\b|\bschlupf\w* in (?:die|eine) rolle|\b(?:in|spiel\w*) (?:der|die|deiner?"
        r"|ihrer?) rolle\b"
    ),
    r"\bich (?:mochte|will|wunsche|erwarte),? dass (?:du|sie)\b",
)
_INSTRUCTIONS: Final = tuple(re.compile(rule) for rule in (*_OVERRULE, *_REVEAL, *_LEAD, *_ACT))
_ROLE_PLAY: Final = tuple(re.compile(rule) for rule in _ROLE)


def find_instructions(reading: Reading) -> Iterator[Hit]:
    """Yield what orders a model about in the copy."""
    for kind, rules in ((Kind.INSTRUCTION, _INSTRUCTIONS), (Kind.ROLE_PLAY, _ROLE_PLAY)):
        for rule in rules:
            for found in rule.finditer(reading.folded):
                yield kind, *found.span()
