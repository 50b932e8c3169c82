"""`muniment settings`: every setting, what it is now and what it means. Secrets are never shown."""

import re
from typing import Final

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from service.entry.cli.output import AsJson, Fields, answer_list
from service.settings import Settings

_USER_INFORMATION: Final = re.compile(r"//[^/@]*@")
_QUERY: Final = re.compile(r"(?<=\?).+", re.DOTALL)


def settings(*, as_json: AsJson = False) -> None:
    """List every setting with its value, its default and what it means."""
    current = Settings()
    items = [_fields(current, name, information) for name, information in Settings.model_fields.items()]
    answer_list(items, as_json=as_json)


def _fields(current: Settings, name: str, information: FieldInfo) -> Fields:
    return {
        "name": f"{Settings.model_config['env_prefix']}{name.upper()}",
        "value": _shown(getattr(current, name)),
        "default": _shown(information.get_default(call_default_factory=True)),
        "description": information.description,
    }


def _shown(value: object) -> object:
    match value:
        case None | bool() | int() | float():
            return value
        case SecretStr():
            return "(secret)"
        case BaseModel():
            return {name: _shown(getattr(value, name)) for name in type(value).model_fields}
        case dict():
            return {name: _shown(part) for name, part in value.items()}
        case list() | tuple():
            return [_shown(part) for part in value]
    # An address may carry a name and password, and a key in its query.
    return _QUERY.sub("(secret)", _USER_INFORMATION.sub("//(secret)@", str(value)))
