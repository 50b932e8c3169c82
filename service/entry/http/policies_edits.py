"""Routes that change a bundle's files for who writes them, and keep nothing."""

from typing import Final

from starlette.responses import Response

from service.entry.http.edge import Edge, Reply, needs, new_router, operation
from service.entry.http.policies_shapes import finding_answers
from service.identity.matrix import POLICIES_VALIDATE
from service.policies.edit import Edit, edit_files
from service.wire.policies_edits import EditBundle, EditsAnswer, FileChangeAnswer

router = new_router("policies")

_EXAMPLE: Final = {
    "files": {"purposes.yaml": "purposes:\n  service:\n    description: Doing the work.  # what it is for\n"},
    "edits": [{"path": "purposes.service.description", "value": "Doing what you asked for."}],
}


@router.post(
    "/policies/edits",
    **operation(summary="Change values in the text of a policy bundle", answer=EditsAnswer, example=_EXAMPLE),
)
def edit(body: EditBundle, edge: Edge = needs(POLICIES_VALIDATE)) -> Response:
    """Answer the files with every edit made; comments, order and quotes stay. Nothing is kept.

    Where an edit cannot be made, or the result would not load, `files` is `null` and `findings` say why: that
    is a good question too, and so 200.
    """
    edits = [Edit(one.path, one.value, one.remove, one.file) for one in body.edits]
    edited = edit_files(body.files, edits)  # before the transaction, which has no part in it
    bundle = edited.found.bundle if edited.found is not None else None
    answer = EditsAnswer(
        valid=edited.files is not None,
        version=bundle.version if bundle is not None else None,
        files=None if edited.files is None else dict(edited.files),
        changes=[FileChangeAnswer(file=file, diff=diff) for file, diff in edited.differences.items()],
        findings=finding_answers(edited.findings),
    )
    return edge.read(lambda _unit: Reply(answer))
