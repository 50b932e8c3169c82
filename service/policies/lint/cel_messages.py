"""The part of CEL's own description of a checked expression that is read here (cel.dev, `checked.proto`)."""

from typing import Any, Final

from google.protobuf.any_pb2 import Any as Wrapped
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from service.policies.condition_types import ENVIRONMENT

_PACKAGE: Final = "muniment.cel"
_TYPE_URL: Final = "type.googleapis.com/cel.expr.CheckedExpr"
_KINDS: Final = {
    "int": FieldDescriptorProto.TYPE_INT64,
    "uint": FieldDescriptorProto.TYPE_UINT64,
    "enum": FieldDescriptorProto.TYPE_INT32,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "text": FieldDescriptorProto.TYPE_STRING,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
}
_MESSAGES: Final[dict[str, dict[str, tuple[int, str]]]] = {
    "Constant": {
        "null": (1, "enum"), "bool": (2, "bool"), "int": (3, "int"), "uint": (4, "uint"),
        "double": (5, "double"), "text": (6, "text"), "bytes": (7, "bytes"),
    },
    "Ident": {"name": (1, "text")},
    "Select": {"operand": (1, "Expr"), "field": (2, "text"), "test_only": (3, "bool")},
    "Call": {"target": (1, "Expr"), "function": (2, "text"), "args": (3, "Expr*")},
    "List": {"elements": (1, "Expr*")},
    "Walk": {
        "variable": (1, "text"), "over": (2, "Expr"), "result_name": (3, "text"), "start": (4, "Expr"),
        "goes_on": (5, "Expr"), "step": (6, "Expr"), "result": (7, "Expr"), "second_variable": (8, "text"),
    },
    "Expr": {
        "id": (2, "int"), "constant": (3, "Constant"), "ident": (4, "Ident"), "select": (5, "Select"),
        "call": (6, "Call"), "list": (7, "List"), "struct": (8, "bytes"), "walk": (9, "Walk"),
    },
    "Position": {"key": (1, "int"), "value": (2, "enum")},
    "SourceInfo": {"positions": (4, "Position*")},
    "Checked": {"expr": (4, "Expr"), "source": (5, "SourceInfo")},
}  # fmt: skip


def _describe(name: str, fields: dict[str, tuple[int, str]]) -> DescriptorProto:
    message = DescriptorProto(name=name)
    for field, (number, kind) in fields.items():
        many = kind.endswith("*")
        plain = _KINDS.get(kind)
        message.field.add(
            name=field,
            number=number,
            label=FieldDescriptorProto.LABEL_REPEATED if many else FieldDescriptorProto.LABEL_OPTIONAL,
            type=FieldDescriptorProto.TYPE_MESSAGE if plain is None else plain,
            type_name=None if plain is not None else f".{_PACKAGE}.{kind.removesuffix('*')}",
        )
    return message


_FILE: Final = FileDescriptorProto(name="muniment/cel.proto", package=_PACKAGE, syntax="proto2")
_FILE.message_type.extend(_describe(name, fields) for name, fields in _MESSAGES.items())
_POOL: Final = DescriptorPool()
_POOL.AddSerializedFile(_FILE.SerializeToString())
_CHECKED: Final[Any] = GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.Checked"))


def read_checked(serialized: bytes) -> Any:  # noqa: ANN401 - a message that is described above
    """Answer a checked expression. Raises `DecodeError` for one that is nested too deep to be read."""
    return _CHECKED.FromString(Wrapped.FromString(serialized).value)


def evaluate_part(checked: Any, part: Any) -> object:  # noqa: ANN401 - messages that are described above
    """Answer what a part of a checked expression comes out as that names no fact; a text where it fails."""
    alone = _CHECKED()
    alone.CopyFrom(checked)  # with the types of its parts, which are not described here and kept all the same
    alone.expr.CopyFrom(part)
    wrapped = Wrapped(type_url=_TYPE_URL, value=alone.SerializeToString())
    return ENVIRONMENT.deserialize(wrapped.SerializeToString()).eval(data={}).value()
