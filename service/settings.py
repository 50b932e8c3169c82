"""The only reader of the environment. Every setting is `MUNIMENT_*`; `muniment settings` lists them."""

from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from service.settings_outside import (
    CompactorModel,
    ConnectorSettings,
    OutsideName,
    PlainAddress,
    SourceReaderSettings,
    check_header_value,
)
from service.settings_tokenizers import TokenizerSettings


class Settings(BaseSettings):
    """What an operator may choose. Frozen; pairs that would be unsafe together are refused at start."""

    # Whatever is wrong with a setting, its text may be a secret: no error repeats it.
    model_config = SettingsConfigDict(
        env_prefix="MUNIMENT_", frozen=True, extra="ignore", hide_input_in_errors=True
    )

    data_dir: Path = Field(
        default=Path("data"), description="Folder of the embedded database, index and key store."
    )
    policies_dir: Path = Field(
        default=Path("policies"),
        description="Folder of the policy bundle that seeds a tenant's first version.",
    )
    database_url: SecretStr | None = Field(
        default=None, description="PostgreSQL address of the record. Without it: SQLite in the data folder."
    )
    qdrant_url: str | None = Field(
        default=None,
        description="Address of a Qdrant server. Without it: the embedded index in the data folder.",
    )
    qdrant_api_key: SecretStr | None = Field(default=None, description="Credential for the Qdrant server.")
    keystore_url: SecretStr | None = Field(
        default=None,
        description="SQL address of the key store, apart from the record. Without it: in the data folder.",
    )
    master_key: SecretStr | None = Field(
        default=None,
        description="Base64 of the 32 bytes that wrap all keys. Without it: a file beside the key store.",
    )
    host: str = Field(default="127.0.0.1", description="Address that `serve` listens on.")
    port: int = Field(default=8080, ge=0, le=65_535, description="Port that `serve` listens on; 0 picks one.")
    metrics_port: int | None = Field(
        default=None,
        ge=0,
        le=65_535,
        description="Port that `/metrics` listens on, at the same address; 0 picks one. Without it: none.",
    )
    worker_enabled: bool = Field(default=True, description="Whether this process delivers the outbox.")
    requests_per_minute: int = Field(
        default=6_000, ge=1, description="Requests that one credential may make in a minute before 429."
    )
    lease_seconds: int = Field(
        default=120,
        ge=5,
        le=3_600,
        description="How long a worker's lease of a run lives unless it is renewed.",
    )
    connectors: dict[OutsideName, ConnectorSettings] = Field(
        default_factory=dict,
        description="Downstreams that commands are delivered to, by name, as JSON.",
    )
    source_readers: dict[OutsideName, SourceReaderSettings] = Field(
        default_factory=dict,
        description="Sources that a resume reads again, by name, as JSON.",
    )
    compactor_url: PlainAddress | None = Field(
        default=None,
        description="Address of an OpenAI-compatible API that writes summaries. Without it: ours.",
    )
    compactor_model: CompactorModel | None = Field(
        default=None, description="The model there that writes summaries; its name stands on each."
    )
    compactor_key: SecretStr | None = Field(default=None, description="Credential for that API.")
    compactor_timeout_seconds: float = Field(
        default=25, gt=0, le=120, description="How long a model may write one summary before 503."
    )
    tokenizers: dict[OutsideName, TokenizerSettings] = Field(
        default_factory=dict,
        description="Tokenizer files of further models, by the name of their encoding, as JSON.",
    )
    failpoints: dict[str, str] = Field(
        default_factory=dict, description="For tests only: points where the process stops, as JSON."
    )
    failpoints_allowed: bool = Field(
        default=False, description="For tests only: whether failpoints may be armed."
    )

    @model_validator(mode="after")
    def _refuse_unsafe_pairs(self) -> Self:
        if self.failpoints and not self.failpoints_allowed:
            raise ValueError("MUNIMENT_FAILPOINTS is set: set MUNIMENT_FAILPOINTS_ALLOWED too, or neither")
        if (self.compactor_url is None) != (self.compactor_model is None):
            raise ValueError("MUNIMENT_COMPACTOR_URL and MUNIMENT_COMPACTOR_MODEL: set both or neither")
        if self.compactor_key is not None:
            # It goes out as a header, and what no header can carry would fail with the first summary.
            check_header_value(self.compactor_key.get_secret_value())
        if self.database_url is not None and self.master_key is None and self.keystore_url is not None:
            raise ValueError(
                "a shared key store needs MUNIMENT_MASTER_KEY: a file key would differ by machine"
            )
        if self.keystore_url is not None and self.keystore_url == self.database_url:
            raise ValueError(
                "the key store must stand apart from the record, whose backups would hold its keys"
            )
        return self

    @property
    def record_url(self) -> str:
        """The SQLAlchemy address of the record."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.data_dir / 'muniment.db'}"

    @property
    def key_record_url(self) -> str:
        """The SQLAlchemy address of the key store."""
        if self.keystore_url is not None:
            return self.keystore_url.get_secret_value()
        return f"sqlite:///{self.data_dir / 'keystore' / 'keys.db'}"
