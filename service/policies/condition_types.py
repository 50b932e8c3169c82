"""The types of the facts that a condition sees: an unknown name or a wrong type is found when it is read."""

from typing import Any, Final

from cel_expr_python import cel
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

_SOURCE_NAME: Final = "muniment.Source"

SOURCE_FIELDS: Final = {
    "kind": str,
    "uri": str,
    "source": str,
    "source_kind": str,
    "trust": str,
    "authority": str,
    "speaker": str,
    "own": bool,
    "relayed": bool,
    "quoted": bool,
}
"""What is known of one cited source; texts are empty where there is nothing to say."""

FACTS: Final = {
    "class_name": cel.Type.STRING,
    "project": cel.Type.STRING,
    "agent": cel.Type.STRING,
    "person": cel.Type.STRING,
    "role": cel.Type.STRING,
    "subject": cel.Type.STRING,
    "purpose": cel.Type.STRING,
    "confidence": cel.Type.DOUBLE,
    "text_characters": cel.Type.INT,
    "value_type": cel.Type.STRING,
    "own_words": cel.Type.BOOL,
    "relayed": cel.Type.BOOL,
    "consent": cel.Type.BOOL,
    "existing": cel.Type.STRING,
    "quota_used": cel.Type.INT,
    "memory_mode": cel.Type.STRING,
    "corrects": cel.Type.BOOL,
    "detections": cel.Type.List(cel.Type.STRING),
    "now": cel.Type.TIMESTAMP,
    "sources": cel.Type.List(cel.Type(_SOURCE_NAME)),
}
"""The names that a condition may use. None of them is the text that is to be remembered."""


def _describe_source() -> FileDescriptorProto:
    file = FileDescriptorProto(name="muniment/source.proto", package="muniment", syntax="proto3")
    message = file.message_type.add(name=_SOURCE_NAME.rpartition(".")[2])
    for number, (name, kind) in enumerate(SOURCE_FIELDS.items(), start=1):
        message.field.add(
            name=name,
            number=number,
            label=FieldDescriptorProto.LABEL_OPTIONAL,
            type=FieldDescriptorProto.TYPE_BOOL if kind is bool else FieldDescriptorProto.TYPE_STRING,
        )
    return file


_POOL: Final = DescriptorPool()
_POOL.AddSerializedFile(_describe_source().SerializeToString())
_SOURCE: Final = GetMessageClass(_POOL.FindMessageTypeByName(_SOURCE_NAME))

ENVIRONMENT: Final = cel.NewEnv(descriptor_pool=_POOL, variables=FACTS)
"""Shared by all conditions and threads: it holds declarations and no facts."""


def answers_yes_or_no(expression: Any) -> bool:  # noqa: ANN401 - the library ships no types
    """Say whether a compiled expression can answer nothing but true and false."""
    return bool(expression.return_type() == cel.Type.BOOL)


def type_name(expression: Any) -> str:  # noqa: ANN401 - the library ships no types
    """Answer what a compiled expression answers, in CEL's words."""
    return str(expression.return_type()).lower()


def source_message(**fields: Any) -> Message:  # noqa: ANN401 - texts and booleans, as `SOURCE_FIELDS` says
    """Answer one cited source in the form that conditions read."""
    return _SOURCE(**fields)
