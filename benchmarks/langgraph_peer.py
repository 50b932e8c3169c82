"""LangGraph keeping a conversation with its SQLite saver, as its documentation says, driven line by line.

Runs in an environment of its own, which has LangGraph and nothing of ours: `python -I langgraph_peer.py FILE
[--delta]`. For each JSON line on standard input it answers one on standard output.
"""

import argparse
import json
import sqlite3
import sys
import time
from typing import Annotated, Any, TypedDict

from langgraph.channels import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer


class State(MessagesState):
    """The prebuilt state of messages, and what a working state says beside them."""

    next_action: str


class DeltaState(TypedDict):
    """The same with the experimental channel that keeps what was added in place of the whole list."""

    messages: Annotated[list, DeltaChannel(_messages_delta_reducer)]
    next_action: str


def main() -> None:
    """Answer lines until the input ends: an exchange with its seconds, or the size of the database."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--delta", action="store_true")
    options = parser.parse_args()
    turn: dict[str, Any] = {}

    def answer(_state: object) -> dict[str, Any]:
        # Where a model would be asked: its reply is given, so that both sides keep the same bytes.
        return {
            "messages": [{"role": "assistant", "content": turn["reply"]}],
            "next_action": turn["next_action"],
        }

    builder = StateGraph(DeltaState if options.delta else State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    with SqliteSaver.from_conn_string(options.file) as saver:
        graph = builder.compile(checkpointer=saver)
        for line in sys.stdin:
            turn = json.loads(line)
            if "thread" in turn:
                question = {"messages": [{"role": "user", "content": turn["question"]}]}
                config = {"configurable": {"thread_id": turn["thread"]}}
                start = time.perf_counter()
                graph.invoke(question, config)
                reply: dict[str, Any] = {"seconds": time.perf_counter() - start}
            else:
                reply = {"bytes": _size_of(saver.conn)}
            print(json.dumps(reply), flush=True)


def _size_of(connection: sqlite3.Connection) -> int:
    return int(
        connection.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).fetchone()[0]
    )


if __name__ == "__main__":
    main()
