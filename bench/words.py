"""Text without meaning but with the shape of prose: sentences, paragraphs and headings from a fixed vocabulary."""

import random
from itertools import accumulate

_VOCABULARY = """
a about account across action after again agree allow almost also always among amount answer apple arrange arrive ask
autumn balance barn basket bee begin belong bench better between birch board boat border borrow bramble bread breeze
bridge bring broad brook bucket build bundle calendar call candle care careful carry cart cedar change charter choose
circle clay clear clover coast collect common compost consent copper corner cost count course cover craft create crop
cross current custom cycle daily day decide deep delay depend describe dig divide door draft draw drift dry early
earth edge effort elder election empty enough even evening every example expect fair fallow family farm feather feed
fence fern field find finish first fish flow fold follow ford forest form frame free fresh frost fruit full garden
gather gate general gentle gift give glass grain grass ground group grow guard guest guide habit half hand harbour
harvest hazel heap hedge help herb hill hold holiday honest honey house idea inside interest iron island keep kitchen
know ladder lake lamp land large late lead leaf learn lend letter level light lime line listen little loan local long
loom low make many map maple market meadow measure meet member memory mend middle mill mint mirror moor morning moss
mountain move narrow near need nest new night north note oak oat offer open orchard order other oven paper part path
patient pattern peat people plain plan plant plough pond pool practice press promise proposal quarter question quiet
rain raise reach ready reed repair report rest return ridge ring rise river road role roof room root round route rule
rye salt same sand season seed share shed shelter shore short side signal slope slow small soil south spade speak
spring stable stand start steady step steward stone store storm stream street strong summer supply swap table tend
test thread tide timber time token tool touch town trade trail tree trust turn twine under until use valley value
village visit voice wait walk wall warm watch water weather weave well west wheat wheel whole willow wind winter wood
wool word work yard year yield young
"""
WORDS = tuple(_VOCABULARY.split())
RARE_WORDS = tuple(
    WORDS[number % len(WORDS)] + WORDS[number * 7 // len(WORDS) % len(WORDS)] for number in range(0, 9_000, 3)
)
"""Compounds: as in any language, few words make up most of the text, and most words are rare."""


class Prose:
    """A deterministic source of text; two of the same seed say the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._order = [*self._random.sample(WORDS, len(WORDS)), *self._random.sample(RARE_WORDS, len(RARE_WORDS))]
        self._weights = list(accumulate(1 / (rank + 8) for rank in range(len(self._order))))

    def words(self, count: int) -> list[str]:
        return self._random.choices(self._order, cum_weights=self._weights, k=count)

    def title(self, count: int = 4) -> str:
        return " ".join(self.words(count)).capitalize()

    def sentence(self) -> str:
        return " ".join(self.words(self._random.randint(7, 18))).capitalize() + "."

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(self._random.randint(2, 5)))

    def description(self, characters: int = 181) -> str:
        text = self.sentence()
        while len(text) < characters:
            text += " " + self.sentence()
        return text[:characters].rstrip()
