"""The context from which capabilities build their pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.kernel.objects import ObjectStore
    from commonplace.web.pages.frame import Frame
    from commonplace.web.pages.settings import SiteSettings


@dataclass(frozen=True, slots=True)
class PageContext:
    """Settings, the frame, and the store of objects; whatever else a page needs it makes when a request needs it."""

    environ: Mapping[str, str]
    settings: SiteSettings
    frame: Frame
    objects: ObjectStore
