"""Words of greeting and thanks in some languages: a sentence of nothing else says nothing.

"Yes" and "no" are not among them: those decide something.
"""

from typing import Final

_WORDS: Final = """
a again all am an anytime any appreciate appreciated are awesome be best bye cheers cool could course
excellent fine for glad good goodbye great happy have hello help here hey hi how i if is it kind know let
lot m me much my nice of ok okay p perfect please pleasure regards s so sorry sounds sure thank thanks
that the there this to ve very welcome with wonderful you your
danke dankeschön freundlichen gern gerne gruß grüße grüßen hallo herzlichen mfg mit schön schönen sehr
tschüss vielen
beaucoup bonjour bonsoir cordialement merci salut
gracias hola muchas saludos
arrivederci buongiorno ciao grazie mille saluti
obrigada obrigado olá
bedankt dank groeten hoi
cześć dzień dobry dzięki dziękuję
здравствуйте привет спасибо
你好 您好 谢谢 谢谢你 谢谢您 多谢 好的 不客气 再见
ありがとう ありがとうございます こんにちは よろしくお願いします
감사합니다 고맙습니다 안녕하세요
شكرا مرحبا धन्यवाद नमस्ते
"""

COURTESIES: Final = frozenset(word.casefold() for word in _WORDS.split())
"""As they are compared: each word folded in case."""
