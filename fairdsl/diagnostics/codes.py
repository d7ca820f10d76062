"""The registry of diagnostic codes: one line each, what the code means in general.

Every code has a constructor in its phase, a page ``docs/errors/CODE.md`` and a folder
``tests/golden/errors/CODE-name``; a test keeps the three in step.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: The disk failed, which is nobody's mistake in a spec: commands end with a code of their own.
DISK_FAILED = "E0629"

_SYNTAX: dict[str, str] = {
    "E0101": "a sign of another language",
    "E0102": "text without straight double quotes",
    "E0103": "a brace that is missing or left over",
    "E0104": "a word that begins no clause",
    "E0105": "a word that begins no declaration",
    "E0106": "a type that is not written as types are",
    "E0107": "a small word or sign that is missing",
    "E0108": "a statement that stops too early",
    "E0109": "a comma too many or too few",
    "E0110": "a condition in the manner of another language",
    "E0111": "a number in another notation",
    "E0112": "a name with a character that names cannot have",
    "E0113": "a file that says nothing",
    "E0114": "a declaration in the wrong place",
    "E0115": "something else than what belongs there",
    "E0116": "a version of the language that is not known",
}

_NAMES: dict[str, str] = {
    "E0201": "two declarations share a name",
    "E0202": "a name that nothing declares",
    "E0203": "an attribute that the domain does not declare",
    "E0204": "a word that is not a value of the attribute",
    "E0205": "a word that is not an outcome of the model",
    "E0206": "an unknown metric",
    "E0207": "groups of an attribute that is not declared protected",
    "E0208": "several declarations fit and none is named",
    "E0209": "a file that uses itself",
    "E0210": "a spec or used file that cannot be read",
    "E0211": "a word that is not on a fixed list",
    "E0212": "a list of rules that is out of order",
    "E0213": "a list of rules that leaves open what happens otherwise",
    "E0214": "rules beside something else that decides",
    "E0215": "a number for a parameter that the spec does not declare",
    "E0216": "a parameter that is called like a word of the language",
}

_TYPES: dict[str, str] = {
    "E0301": "a range that runs backwards",
    "E0302": "two sides of a comparison that do not belong together",
    "E0303": "a threshold that decides nothing",
    "E0304": "an expression that is not linear",
    "E0305": "values or codes of a category that clash",
    "E0306": "a distance of categories",
    "E0307": "a number where a condition belongs, or the reverse",
    "E0308": "a number that is out of place",
    "E0309": "probabilities that make no distribution",
}

_QUESTIONS: dict[str, str] = {
    "E0401": "an allowed edge that is not in the graph",
    "E0402": "an allowed path with the wrong ends",
    "E0403": "a baseline or privileged group that is not one group",
    "E0404": "an edge both allowed and forbidden",
    "E0405": "a causal metric over a learned structure",
    "E0406": "a property without a clause it needs",
    "E0407": "several differing attributes without `any` or `all`",
    "E0408": "a condition that fixes what must differ",
    "E0409": "a condition that excludes everybody",
    "E0410": "a differing attribute with one value",
    "E0411": "an exception named twice",
    "E0412": "a model that does not say all it must",
    "E0413": "a clause that does not belong in the property",
    "E0414": "a demand that no verdict could decide",
    "E0415": "a decision rule that means nothing definite",
    "E0416": "a metric without what defines it",
    "E0417": "a setting that nothing reads",
    "E0418": "an expression that is not a metric",
    "E0419": "a derived attribute that nobody can choose",
}

_FILES: dict[str, str] = {
    "E0501": "a model file that cannot be opened",
    "E0502": "a file that is not what its format says",
    "E0503": "an operator that is not read",
    "E0504": "a node that cannot be read exactly",
    "E0505": "a side file with weights that is missing",
    "E0506": "weights that are not finite numbers",
    "E0507": "a model file other than the one pinned",
    "E0508": "a model that reads another number of inputs",
    "E0509": "an input of the file that cannot be bound",
    "E0510": "a linear model's document that cannot be read",
    "E0511": "a decision rule that does not fit the file's output",
    "E0512": "a threshold that every individual passes, or none",
    "E0513": "a file format that is not read",
    "E0514": "a model file that cannot be run",
    "E0515": "a document of rules that cannot be read",
    "E0516": "a Python function that was not given",
    "E0517": "a black box without an answer that can be read",
    "E0518": "a model that is non-deterministic",
    "E0519": "a model file that does not compute what was read of it",
    "E0520": "a library's own file that cannot be read",
    "E0521": "values that the model file knows by other names or codes",
}

_DATA: dict[str, str] = {
    "E0530": "a data file that cannot be read",
    "E0531": "an attribute without one column in the data",
    "E0532": "a cell that is not a value of its attribute",
    "E0533": "a row that the domain excludes",
    "E0534": "a data file other than the one pinned",
}

_FITTING: dict[str, str] = {
    "E0550": "a replaced model that the spec does not declare",
    "E0551": "a score gap of a model with several scores",
    "E0552": "a confidence of a model without probabilities",
    "E0553": "data for an unknown distribution",
    "E0554": "a model that does not decide as was recorded",
    "E0555": "a recorded column that cannot be read as decisions",
    "E0556": "a median of scores that is not known",
}

_PRUNING: dict[str, str] = {
    "E0560": "units that cannot be taken out of a file",
    "E0561": "no one model to prune",
    "E0562": "accuracy without anything to compare with",
}

_POPULATIONS: dict[str, str] = {
    "E0570": "a distribution that its attribute cannot have",
    "E0571": "conditions of distributions that do not divide everybody",
    "E0572": "cyclic dependency between distributions",
    "E0573": "unknown search for structures",
    "E0574": "a population file that cannot be read",
    "E0575": "a network that is not a distribution of the attributes",
    "E0576": "a search that gives no network",
}

_GROUPS: dict[str, str] = {
    "E0580": "a group that nobody belongs to",
}

_REPAIRING: dict[str, str] = {
    "E0590": "an estimator that cannot be trained",
    "E0591": "an estimator that does not become a model file",
    "E0592": "a property or model that training cannot repair",
    "E0593": "too few rows to repair a model with",
    "E0594": "a model that no file can be written for that decides alike by construction",
    "E0595": "a spec that can detect nothing, or a model in which nothing can be planted",
}

_BACKENDS: dict[str, str] = {
    "E0601": "no backend answers the question",
    "E0602": "the backend asked for cannot answer it",
    "E0603": "a question that the file format cannot express",
    "E0604": "unknown backend, file format or property",
    "E0605": "a folder that cannot be written",
    "E0606": "a spec without properties",
    "E0607": "a file that is not a solver file, interval job or result",
    "E0608": "a job or result of a newer fairdsl",
    "E0609": "a job or result that is damaged",
    "E0610": "no earlier result to resume",
    "E0611": "an earlier result that would be replaced",
    "E0612": "a result that does not fit the others, or the job",
    "E0613": "no results, or no job, to recover a verdict from",
    "E0614": "a Dask cluster that cannot be used",
    "E0615": "partitions without a question to ask of them",
    "E0616": "one ledger for the partitions of several questions",
    "E0617": "a file that is not a subset-sum instance",
    "E0618": "a subset-sum instance that was changed",
    "E0619": "more partitions than files can be written for",
    "E0620": "an answer to none of the solver files",
    "E0621": "solver files whose spec or model has changed",
    "E0622": "a manifest that cannot be read",
    "E0623": "a table of answers that cannot be read",
    "E0624": "a VNN-LIB file that cannot be read",
    "E0625": "the time was up before anything was decided",
    "E0626": "a folder that does not ask what its spec asks",
    "E0627": "a result that claims what does not come out",
    "E0628": "a strategy or encoding of another package that fails",
    "E0629": "a disk that is full or fails",
    "E0630": "a file that is not a report",
    "E0631": "a report without verdicts",
    "E0632": "reports that have no demand in common",
    "E0633": "which property is meant",
    "E0634": "a table in a format that cannot be written",
    "E0635": "no rows for a search to stay near to",
    "E0636": "representatives of a question with exceptions",
    "E0637": "a strategy that cannot search the model",
    "E0640": "a file that is not an SDIMACS instance",
    "E0641": "a number that is not a probability, in an SDIMACS instance",
    "E0642": "a variable bound twice, in an SDIMACS instance",
    "E0643": "a variable beyond those of an SDIMACS instance",
    "E0644": "more or fewer clauses than an SDIMACS instance announces",
    "E0645": "an exact probability that contradicts an SDIMACS instance",
    "E0650": "an SSAT solver that is not on this machine",
    "E0651": "a program that is not a known SSAT solver",
    "E0652": "an instance that the SSAT solver does not answer",
    "E0660": "an unknown option",
    "E0661": "a value that an option does not take",
    "E0662": "an option that has no effect beside the others",
    "E0670": "a column that the table has not, or that cannot be an attribute",
    "E0671": "a file in the place of a new spec",
    "E0672": "a table without a column that can be an attribute",
    "E0680": "something given in Python that is not a table, or no column",
    "E0681": "predictions of which it is not clear what they mean",
    "E0682": "something given in Python for a spec or a model that cannot be used",
    "E0683": "an estimator whose file decides otherwise than its predict",
}

_APPROXIMATION: dict[str, str] = {
    "W0701": "irrational numbers among the model's constants, rounded",
    "W0702": "a raw score read as the logit of a probability",
    "W0703": "a network that was pruned",
    "W0704": "raw scores read as the logits of a softmax",
    "W0705": "a distribution with more probabilities than rows",
    "W0706": "protected values that no row has",
    "W0707": "a file that is queried as a black box, for it cannot be read",
    "W0709": "single rows that an estimator's file decides otherwise than its predict",
    "W0710": "values that the model file does not know",
}

_SMELLS: dict[str, str] = {
    "W0801": "a declaration that is never used",
    "W0802": "a condition that changes nothing",
    "W0803": "a distance that says nothing",
    "W0804": "a property that compares nobody",
    "W0805": "a differing attribute that the model never reads",
    "W0806": "a feature that is read twice",
    "W0807": "a category that writes some of its codes",
    "W0808": "rates that rest on few rows",
    "W0809": "a distribution that its own rows contradict",
    "W0810": "a rule that never decides",
    "W0811": "groups that a learned distribution makes equal",
    "W0812": "inputs without names, bound by their order alone",
    "W0813": "another binding that agrees better with recorded decisions",
    "W0814": "a feature in the place of another one, by the file's own names",
    "W0815": "options that have no effect in this run",
    "W0816": "a property that reads as something else than it is",
    "W0817": "a file that is not where the spec says",
    "W0818": "a model that decides alike about every row",
    "W0819": "a range that seems to be in another unit",
    "W0820": "a range that the trees of a file compare with nothing near it",
}

#: Every code and its general meaning, in the order of the phases.
CODES: Mapping[str, str] = MappingProxyType(
    _SYNTAX
    | _NAMES
    | _TYPES
    | _QUESTIONS
    | _FILES
    | _DATA
    | _FITTING
    | _PRUNING
    | _POPULATIONS
    | _GROUPS
    | _REPAIRING
    | _BACKENDS
    | _APPROXIMATION
    | _SMELLS
)
