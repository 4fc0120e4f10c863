"""Settings, from the environment (`CAIRN_…`) and from `settings.toml` in the data folder."""

from cairn.config.sections import OidcSettings
from cairn.config.settings import Settings

__all__ = ["OidcSettings", "Settings"]
