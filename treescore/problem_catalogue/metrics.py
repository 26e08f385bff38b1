"""Codes of metrics, transforms and significance tests."""

from __future__ import annotations

from treescore.errors import Entry

DEPENDENCIES = {
    "broken-tree": Entry(
        "The heads of a sentence make no tree",
        "A head lies outside the sentence, or heads lead back to where they began. Each head of the sentence counts as "
        "wrong.",
        "Let every chain of heads end at a word with HEAD 0.",
    ),
    "cycle": Entry(
        "A word is on a cycle of heads",
        "Following the heads from the word leads back to it, so that the sentence is not a tree.",
        "Correct the heads so that each word leads to the root.",
    ),
    "head-missing": Entry(
        "A word has no head",
        "HEAD has no value, and the metric needs trees.",
        "Write 0 for the root and the number of the head for all other words.",
    ),
    "head-out-of-range": Entry(
        "HEAD exceeds the sentence",
        "The head of a word is not a word of the sentence.",
        "Use 0 for the root or the number of a word of the same sentence.",
    ),
    "no-root": Entry(
        "The sentence has no root",
        "No word has the head 0, so that the sentence is not a tree.",
        "Give exactly one word the head 0.",
    ),
    "other-words": Entry(
        "Words or parts of speech differ from gold's",
        "The parameter words of attachment is warn, so that words are compared by their position alone.",
        "Check that the output is of gold's text; leave words out of the parameters to make this an error.",
    ),
    "several-roots": Entry(
        "The sentence has several roots",
        "Two or more words have the head 0, and the metric needs a tree with one root.",
        "Give exactly one word the head 0, and attach the others to it.",
    ),
    "key-not-a-tree": Entry(
        "A sentence of gold is not a tree",
        "The key has a cycle, no root or a head outside the sentence, and the metric needs trees.",
        "Correct the sentence of the key, or leave it out with the parameter select.",
    ),
    "multiword-stretch-too-long": Entry(
        "Overlapping multiword tokens cannot be aligned",
        "Multiword tokens of gold and of the output overlap over so many words that aligning them takes too long.",
        "Check the ranges of multiword tokens in the ID column.",
    ),
    "enhanced-bad-deps": Entry(
        "DEPS cannot be read",
        "The ninth column is neither _ nor pairs of a head and a relation.",
        "Write pairs that are separated by |, in the order of their heads.",
        "4:nsubj|6:nsubj",
    ),
    "enhanced-duplicate-empty-node": Entry(
        "Two empty nodes have the same ID",
        "DEPS could not say which of the two nodes it names.",
        "Number the empty nodes of a sentence differently, as 3.1 and 3.2.",
    ),
    "enhanced-head-out-of-range": Entry(
        "DEPS names a head outside the sentence",
        "A head in DEPS is greater than the number of words, or not a number.",
        "Use 0 for the root, or the number of a word or empty node of the sentence.",
    ),
    "enhanced-unknown-empty-node": Entry(
        "DEPS names an unknown empty node",
        "A head such as 3.1 has no line of its own in the sentence.",
        "Add the line of the empty node, or name a word.",
    ),
    "too-many-enhanced-paths": Entry(
        "Empty nodes have too many paths through them",
        "Edges through empty nodes are replaced by paths, and the text has more of them than the limit.",
        "Check the DEPS of empty nodes, or switch the collapsing of empty nodes off.",
    ),
}
LINKS = {
    "alignment-bad-length": Entry(
        "The length of a sentence pair is wrong",
        "A length in items is negative or exceeds the limit of words in a sentence.",
        "Give two numbers of words for each pair: source and target.",
        '{"items": {"lengths": [[7, 8], [5, 5]]}}',
    ),
    "alignment-base-not-stated": Entry(
        "The links seem to be counted from another base",
        "Read with the usual base of the format, links point beyond their sentences or no first word is linked.",
        "State the base in the format, for gold and outputs.",
        '{"name": "pharaoh", "base": 1}',
    ),
    "alignment-gold-empty": Entry(
        "Gold has no sentence pairs",
        "The alignment of gold has no link, so that nothing can be compared.",
        "Send gold with at least one link.",
    ),
    "alignment-lengths-needed": Entry(
        "Completing links to NULL requires lengths",
        "Which words have no link can only be known if the lengths of the sentences are known.",
        "Send the lengths of all pairs with the request.",
        '{"items": {"lengths": [[7, 8], [5, 5]]}}',
    ),
    "alignment-link-out-of-range": Entry(
        "A link points beyond its sentence",
        "The number of a word exceeds the length of the sentence: words count from another base, or the direction is "
        "reversed.",
        'Check the format options "base" (0 or 1) and "reversed".',
    ),
    "alignment-sentence-not-in-gold": Entry(
        "The output aligns sentences that gold does not have",
        "The links of these sentences count as wrong.",
        "Send the sentences of gold only, under the names that gold gives them.",
    ),
    "alignment-suspicious-indices": Entry(
        "The links fit gold far better when read in another way",
        "Words probably count from another base, or the direction is reversed. The output is scored as it was read.",
        "If the reading in the message is right, give the format the option that the message names.",
        '{"name": "pharaoh", "base": 1}',
    ),
    "alignment-too-many-words": Entry(
        "The sentence pairs have too many words",
        "The lengths of all pairs together exceed the limit.",
        "Check the lengths, or split the text.",
    ),
    "alignment-words-mismatch": Entry(
        "Lengths and words of a pair disagree",
        "The request states both the words and the lengths of the pairs, and they do not fit each other.",
        "Send the words alone: the lengths follow from them.",
        '{"items": {"words": [["the big dog", "le gros chien"], ["yes", "oui"]]}}',
    ),
    "alignment-words-needed": Entry(
        "Leaving out punctuation requires the words",
        "Which links join a punctuation mark can only be known if the words of the sentences are known.",
        "Send the words of all pairs with the request.",
        '{"items": {"words": [["the big dog", "le gros chien"], ["yes", "oui"]]}}',
    ),
}
CONSTITUENTS = {
    "lineage-limit": Entry(
        "A sentence is too large for leaf-ancestor",
        "Depth times words, or the table of distances, exceeds the limit of the metric.",
        "Split the sentence, or remove redundant levels with the transform collapse-unary.",
    ),
    "parseval-needs-discodop": Entry(
        "The trees may have gaps",
        "The format has constituents whose words are not adjacent; only one preset of parseval compares these.",
        "Choose the preset discodop.",
        '{"name": "parseval", "params": {"preset": "discodop"}}',
    ),
    "prm-empty-value": Entry(
        "A keyword of the parameter file has no value",
        "The line is ignored, as EVALB does.",
        "Write a value after the keyword, or remove the line.",
    ),
    "prm-not-a-pair": Entry(
        "A line of the parameter file needs two values",
        "EQ_LABEL and EQ_WORD make two values equal. The line is ignored.",
        "Write two values after the keyword.",
        "EQ_LABEL ADVP PRT",
    ),
    "prm-too-many-pairs": Entry(
        "The parameter file has too many pairs",
        "The lines EQ_LABEL or EQ_WORD exceed the limit.",
        "Rewrite the labels or words in the texts instead.",
    ),
    "prm-unknown-key": Entry(
        "The parameter file has an unknown keyword",
        "The line is ignored, as EVALB does.",
        "Check the spelling of the keyword, or remove the line.",
        "DELETE_LABEL TOP",
    ),
    "renaming-cycle": Entry(
        "Labels are renamed in a circle",
        "A label is renamed to another one, and that one, at once or over others, back to the first.",
        "Remove one of the renamings, so that every chain of them ends.",
    ),
    "rule-limit": Entry(
        "The rules take too many steps",
        "Applying the rules to the trees exceeds the limit of the transform.",
        "Use fewer rules, or none that raises thousands of children one after the other.",
    ),
    "rule-syntax": Entry(
        "A rule cannot be read",
        "The text of the rules has a fault at the given line and column.",
        "Correct the rule as the message says. The page of the transform has the grammar of rules.",
    ),
    "tree-distance-limit": Entry(
        "A sentence is too large for the tree distance",
        "The number of steps grows with the square of a tree's size, and exceeds the limit of the metric.",
        "Split the sentence, leave it out, or use the metric parseval.",
    ),
    "too-many-rules": Entry(
        "The transform has too many rules",
        "The number of rules, of their labels or of their characters exceeds the limit.",
        "Use fewer rules, or share them among several transforms.",
    ),
}
SLICES = {
    "bad-grouping": Entry(
        "A grouping cannot be used",
        "The name joins too many attributes, has a bad offset, or joins a grouping by errors with others.",
        "Join attributes with # or a comma, and write an offset after @.",
        "Cpostag@-1#Wordform@0",
    ),
    "too-many-groupings": Entry(
        "The metric has too many groupings",
        "The number of complex groupings exceeds the limit.",
        "Ask for fewer, or share them among several jobs.",
    ),
    "unknown-attribute": Entry(
        "A selection names an unknown attribute",
        "The parameter select uses an attribute that neither gold nor items has.",
        "Use one of the attributes that the message lists, or send it in items.attributes.",
    ),
    "unknown-grouping": Entry(
        "The grouping is unknown",
        "The name is not one of the groupings of the metric.",
        "Use one of the names that the message lists.",
    ),
    "unknown-sentence": Entry(
        "The sentence is unknown",
        "The result has no sentence of this number or name.",
        "Give a number from 1 to the number of gold's sentences, or a sent_id of gold.",
    ),
    "unknown-slice-metric": Entry(
        "The slice metric is unknown",
        "The name is not one of the slice metrics of the metric.",
        "Use one of the names that the message lists.",
    ),
    "unknown-system": Entry(
        "The system is unknown",
        "No system of the request, or no submission of the team, has this name.",
        "Use the name as it was given before. A first training run is submitted without run_of.",
    ),
}
TESTS = {
    "no-blocks": Entry(
        "The blocks of the sentences are unknown",
        "The unit of the test is block, but neither items.blocks nor gold says which sentences belong together.",
        "Send items.blocks, use gold with document boundaries (newdoc), or use the unit sentence.",
    ),
    "no-token-bits": Entry(
        "The unit token does not fit the score or the systems",
        "The score has no value for each token, or a system has several training runs.",
        "Use the unit sentence, or a score of single words such as attachment.las.",
    ),
    "no-training-runs": Entry(
        "No system has two training runs",
        "The setting runs is random, which needs the outputs of several training runs of one system.",
        "Name further runs with run_of, or leave the setting runs out.",
    ),
    "too-few-parts": Entry(
        "The score has too few parts for the unit part",
        "A test over whole parts needs a mean over several parts: with few of them p cannot be small.",
        "Use the unit block or sentence.",
    ),
    "run-of-a-run": Entry(
        "A run names another run instead of the first one",
        "The system in run_of is itself a further run of a third one.",
        "Write the name of the first run in run_of for all further runs.",
    ),
    "run-of-itself": Entry(
        "An output is named as a run of itself",
        "The name in run_of is the name of the output.",
        "Leave run_of out, or name the system of which the output is a further run.",
    ),
    "same-runs": Entry(
        "Two training runs of a system have the same output",
        "One output was probably given twice, by a copy or a pattern that names it twice: the spread over runs is "
        "wrong, and so are intervals and p.",
        "Leave out one of the outputs, or give the output of another run.",
    ),
    "too-few-runs": Entry(
        "A system has no output",
        "The list of training runs of a system is empty.",
        "Give one output, or a list of the outputs of its runs.",
    ),
}
EXPRESSIONS = {
    "too-long-expressions": Entry(
        "Multiword expressions are too long to be compared with a training text",
        "Expressions are compared word for word with those of the training text, from the first to the last word and "
        "over their gaps; together they stretch over too many words for that.",
        "Write each expression once, and only those that the sentence has.",
    ),
    "too-many-overlaps": Entry(
        "Too many multiword expressions of a sentence overlap",
        "Expressions of gold and of the output are paired by the words that they share; those that differ share too "
        "many words for that.",
        "Write each expression once. Expressions that are the same on both sides do not count towards the limit.",
    ),
    "training-text-too-large": Entry(
        "The training text is too large",
        "The training text in a metric's parameters has more bytes than the limit, TREESCORE_MAX_TRAINING_BYTES.",
        "Leave out sentences without expressions, which play no part, or raise the limit.",
    ),
}
METRICS = {**DEPENDENCIES, **EXPRESSIONS, **LINKS, **CONSTITUENTS, **SLICES, **TESTS}
