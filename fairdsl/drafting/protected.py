"""Which columns look as if the law protected them: by their headers and their values, in several languages.

A proposal and no more: what is protected in a case is decided by whoever audits. The grounds are those of Article 21 of
the Charter of Fundamental Rights of the European Union and of the Equal Credit Opportunity Act (15 U.S.C. 1691).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from fairdsl.drafting.columns import Column
from fairdsl.drafting.words import listed

#: Words of headers, by ground, without accents; a word of several parts matches parts that follow each other.
_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "sex": """
            sex gender male female woman geschlecht sexe genre sexo genero sesso genere geslacht kon kjonn koen
            plec pohlavi sukupuoli nem""",
        "race or ethnic origin": """
            race ethnicity ethnic ethnic_group ethnie rasse herkunft hautfarbe raza etnia razza raca origine
            ethnicite skin skin_color skin_colour colour_of_skin black white hispanic latino""",
        "nationality": """
            nationality nationalitat nationalite nacionalidad nazionalita nacionalidade citizenship citizen
            foreign_worker foreign native_country country_of_birth birth_country birthplace staatsangehorigkeit
            citoyennete ciudadania cittadinanza immigrant migrant""",
        "age": """
            age age_group agegroup age_class alter altersgruppe edad eta idade leeftijd alder wiek ika
            date_of_birth birth_date birthdate dob year_of_birth birth_year geburtsdatum geburtsjahr
            date_de_naissance fecha_de_nacimiento""",
        "religion or belief": "religion religious faith belief glaube konfession religione religiao confession",
        "disability": """disability disabled handicap handicapped behinderung behindert schwerbehindert
            discapacidad disabilita deficiencia""",
        "marital status": """marital marital_status married personal_status civil_status familienstand relationship
            etat_civil estado_civil stato_civile""",
        "sexual orientation": "sexual_orientation orientation_sexuelle orientacion_sexual orientamento_sessuale",
        "pregnancy": "pregnant pregnancy schwanger schwangerschaft enceinte embarazo embarazada",
        "language": "mother_tongue native_language muttersprache langue_maternelle lengua_materna",
        "public assistance": "public_assistance welfare sozialhilfe",
    }
)
#: Values that name groups: a column that has two of a ground's, and nothing but texts, is proposed for it.
_VALUES: Mapping[str, str] = MappingProxyType(
    {
        "sex": """
            male female man woman men women m f w mann frau mannlich weiblich divers homme femme masculin
            feminin hombre mujer masculino femenino maschio femmina masculina feminina uomo donna homem mulher
            nonbinary non_binary vrouw kvinna kvinde""",
        "race or ethnic origin": """
            white black asian hispanic latino caucasian african_american native_american asian_pac_islander
            amer_indian_eskimo pacific_islander indigenous roma""",
        "religion or belief": "christian muslim jewish hindu buddhist catholic protestant atheist sikh",
        "marital status": "married single divorced widowed separated verheiratet ledig geschieden verwitwet",
    }
)


def proposed(columns: Sequence[Column]) -> list[tuple[Column, str]]:
    """The columns that look protected, in the order of the grounds above, each with its reason."""
    order = {ground: place for place, ground in enumerate(_HEADERS)}
    found = [(column, *why) for column in columns if (why := _ground(column)) is not None]
    return [(column, f"{ground}, by its {by}") for column, ground, by in sorted(found, key=lambda each: order[each[1]])]


def _ground(column: Column) -> tuple[str, str] | None:
    """The ground for which a column may be protected, and what suggests it; None where nothing does."""
    parts = _parts(column.header)
    for ground, words in _HEADERS.items():
        if any(_within(tuple(word.split("_")), parts) for word in words.split()):
            return ground, "name"
    if column.type is None or column.numbers is not None:
        return None
    values = column.values
    plain = {"_".join(_parts(value)): value for value in values}
    for ground, words in _VALUES.items():
        named = sorted(plain[word] for word in set(words.split()) & plain.keys())
        if len(named) >= 2:
            return ground, f"values {listed(named, 2)}"
    return None


def _parts(text: str) -> tuple[str, ...]:
    """The words in a header, in lower case and without accents: `dateOfBirth` has three."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    plain = unicodedata.normalize("NFKD", apart).replace("ø", "o").replace("Ø", "o").replace("ł", "l")
    return tuple(re.findall(r"[a-z]+", plain.encode("ascii", "ignore").decode().lower()))


def _within(word: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    return any(parts[start : start + len(word)] == word for start in range(len(parts) - len(word) + 1))
