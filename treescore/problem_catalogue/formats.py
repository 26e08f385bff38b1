"""Codes of single formats, among them those of trees whose constituents may have gaps."""

from __future__ import annotations

from treescore.errors import Entry

_LINK = "0-0 1-2 2?1"
_TUPLE = "(dog N < barks subj)"
_GRAPH_WORD = "1\tDogs\tdog\tNNS\t-\t-\t_\tARG1"
_WORD = "1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_"

BRACKETED = {
    "bracket-unclosed": Entry(
        "A bracket is not closed",
        "A sentence ends while brackets are open. A bracket that is a word counts as a bracket too. A tree over "
        "several lines does so where the text is read a line at a time.",
        "Close every bracket, and write brackets that are words as -LRB- and -RRB-. Where trees are spread over lines, "
        "set the layout of the format to free.",
        "(S (NP (NN dogs)) (VP (VBP bark)))",
    ),
    "bracket-unopened": Entry(
        "A bracket is closed that was never opened",
        "A sentence has more closing than opening brackets, or is a line of a tree that is spread over several.",
        "Remove the bracket or open one before it, and write brackets that are words as -LRB- and -RRB-. Where trees "
        "are spread over lines, set the layout of the format to free.",
        "(S (NP (NN dogs)) (VP (VBP bark)))",
    ),
    "text-outside-brackets": Entry(
        "Text stands outside brackets",
        "A line has a word or label that belongs to no tree.",
        "Put every tree in brackets, and leave the line empty where the parser failed.",
    ),
    "bare-carriage-return": Entry(
        "The text has carriage returns within lines",
        "A carriage return without a line feed ends no line; it is read as a space.",
        "Save the file with the line ends of Unix or Windows.",
    ),
}
CONLLU = {
    "conllu-bad-head": Entry(
        "HEAD is not a number",
        "The seventh column of a word must be the number of its head.",
        "Use 0 for the root and the number of a word for all others, in digits.",
        _WORD,
    ),
    "conllu-bad-id": Entry(
        "The ID has an unknown form",
        "The first column is neither a number, nor a range of a multiword token, nor the number of an empty node.",
        "Write 3 for a word, 3-4 for a multiword token, or 3.1 for an empty node.",
    ),
    "conllu-bad-range": Entry(
        "The range of a multiword token is wrong",
        "The range ends before it begins, does not stand before its first word, overlaps another or is too long.",
        "Put the line of the multiword token directly before its first word, with the numbers of its words.",
    ),
    "conllu-column-count": Entry(
        "The line does not have 10 columns",
        "A line of a word must have ten columns that are separated by single tabs.",
        "Write _ where a column has no value, use tabs instead of spaces, and remove columns after the tenth.",
        _WORD,
    ),
    "conllu-comment-inside-sentence": Entry(
        "A comment stands between words",
        "Comments are allowed only before the first word of a sentence.",
        "Move the comment up, or end the sentence before it with a blank line.",
    ),
    "conllu-empty-form": Entry(
        "FORM is empty",
        "The second column of a word has no character.",
        "Write the word, or _ where it has none.",
    ),
    "conllu-empty-node-misplaced": Entry(
        "An empty node stands at the wrong place",
        "The empty node 3.1 must follow word 3 and the empty nodes of it with lower numbers.",
        "Move the line of the node, or correct its number.",
    ),
    "conllu-head-out-of-range": Entry(
        "HEAD exceeds the sentence",
        "The head is a number greater than the number of words.",
        "Use 0 for the root or the number of a word of the same sentence.",
    ),
    "conllu-no-words": Entry(
        "The sentence has no words",
        "A sentence has only comments, multiword tokens or empty nodes.",
        "Add the lines of its words, or remove the sentence.",
    ),
    "conllu-spare-blank-line": Entry(
        "A blank line ends no sentence",
        "A second blank line follows a sentence, or one precedes the first. It is ignored.",
        "Remove the line. The scores do not depend on it.",
    ),
    "conllu-wrong-id": Entry(
        "The ID is out of order",
        "The words of a sentence must have the numbers 1, 2, 3 and so on.",
        "Number the words again, and put a blank line between sentences.",
    ),
}
CUPT = {
    "cupt-bad-code": Entry(
        "The codes of multiword expressions cannot be read",
        "The column PARSEME:MWE of a word holds neither * nor codes: numbers, with a category after a colon, joined by "
        "semicolons. _ says that the word is not annotated.",
        "Write * for a word that is in no expression, else the number of each of its expressions.",
        "1:VID;2",
    ),
    "cupt-code-at-empty-node": Entry(
        "An empty node has a code",
        "Expressions consist of words. The code of an empty node is ignored.",
        "Move the code to a word, or write *.",
    ),
    "cupt-code-at-range": Entry(
        "A multiword token has a code",
        "Codes belong to words. One at the range of a multiword token is taken for a code of each of its words.",
        "Write * at the range, and the code at the words that are in the expression.",
    ),
    "cupt-column-count": Entry(
        "The line has not as many columns as the first line names",
        "Each line of a word has the columns that the first line names, separated by single tabs.",
        "Write _ where a column has no value, and use tabs instead of spaces.",
    ),
    "cupt-no-category": Entry(
        "An expression has no category",
        "No code of the expression has a category, or one at a later word has it; that of the first word counts.",
        "Write the category at the first word, after the number and a colon.",
        "1:VID",
    ),
    "cupt-no-columns": Entry(
        "The columns are not named",
        "The first line must name the columns, each once, among them ID, FORM and PARSEME:MWE; where texts are joined, "
        "all of them must name the same.",
        "Begin the text with the line below.",
        "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE",
    ),
    "cupt-repeated-code": Entry(
        "A word has two codes of one expression",
        "The number of an expression stands twice at a word. Their order as strings decides which category counts.",
        "Keep one of the codes.",
    ),
    "cupt-two-categories": Entry(
        "An expression has two categories",
        "A later word of an expression has another category than its first word, which counts.",
        "Write the category at the first word alone.",
    ),
    "too-many-codes": Entry(
        "Codes at multiword tokens stand for too many",
        "A code at a range is taken for one at each of its words; there are too many of them in the text.",
        "Write the codes at the words.",
    ),
}
CONLLX = {
    "conllx-column-count": Entry(
        "The line has too few columns",
        "A line must have at least the eight columns ID to DEPREL.",
        "Write _ where a column has no value, and separate columns by tabs.",
        "1\tDogs\tdog\tN\tNNS\t_\t2\tsubj",
    ),
    "conllx-comment-inside-sentence": Entry(
        "A comment stands between words",
        "Comments are allowed only before the first word of a sentence.",
        "Move the comment before the first word of the sentence.",
    ),
    "conllx-comments": Entry(
        "Lines that begin with # are left out",
        "Such lines before a sentence are read as comments, as in CoNLL-U. The format has none: eval07.pl takes each "
        "for a word.",
        "Remove the lines if the text is also scored by eval07.pl. If they are words, put their numbers first.",
    ),
    "conllx-empty-field": Entry(
        "A column is empty",
        "Two tabs follow each other, so that the column between them has no value.",
        "Write _ where a column has no value.",
    ),
    "conllx-id-not-position": Entry(
        "The ID is not the position of the word",
        "The line is scored as the word at its position, as eval07.pl does.",
        "Number the words 1, 2, 3. If the file has multiword tokens, use the format conllu.",
    ),
    "conllx-odd-head": Entry(
        "HEAD is not a plain number",
        "The value is compared with gold as it is written, so that 02 and 2 differ.",
        "Write the head in digits without leading zeros or signs.",
    ),
}
SDP = {
    "sdp-bad-flag": Entry(
        "top or pred is neither + nor -",
        "The fifth and the sixth column say whether the word is a top, and whether it is a predicate.",
        "Write + for yes and - for no.",
        _GRAPH_WORD,
    ),
    "sdp-bad-header": Entry(
        "The line #SDP names no year that is known",
        "The columns are those of SDP 2015 or of SDP 2014, which have no frame; a text has one of them.",
        "Write #SDP 2015 or #SDP 2014 as the first line.",
        "#SDP 2015",
    ),
    "sdp-bad-id": Entry(
        "A line with # gives no id, or a second one",
        "One line with # stands before the words of a graph and gives its id. The format has no comments.",
        "Leave one line with # and the id before each graph.",
        "#20001001",
    ),
    "sdp-column-count": Entry(
        "The line has another number of columns than its graph asks for",
        "After the first columns (7, or 6 in texts of 2014) there is one for each word of the graph whose pred is +.",
        "Write _ where the word has no role, and + in pred for each predicate.",
        _GRAPH_WORD,
    ),
    "sdp-comment-inside-graph": Entry(
        "A line with # stands between the words of a graph",
        "The id of a graph stands before its first word, and a blank line ends the graph before it.",
        "Write a blank line before the line with #.",
    ),
    "sdp-empty-field": Entry(
        "A column is empty",
        "Two tabs follow each other, or a line ends with a tab.",
        "Write _ where a column has no value.",
    ),
    "sdp-no-id": Entry(
        "A graph has no id",
        "Other graphs of the text have one. Graphs are matched by their ids where all have one, else by their order.",
        "Write a line with # and the id before the words of each graph.",
        "#20001001",
    ),
    "sdp-no-words": Entry(
        "A graph has no words",
        "A blank line, or the end of the text, follows the line with its id. The text may be cut off.",
        "Write a line for each word; in a graph without edges with - in top and pred.",
        _GRAPH_WORD,
    ),
    "sdp-unknown-columns": Entry(
        "The columns fit neither year",
        "The text does not state its year, and no graph has in all its lines the columns of 2014 or of 2015: 6 or 7, "
        "and one for each word of the graph whose pred is +.",
        "Write #SDP 2015 or #SDP 2014 as the first line, and one ARG column for each word with pred +.",
        "#SDP 2015",
    ),
    "sdp-wrong-id": Entry(
        "A word does not have the number of its position",
        "The words of a graph are numbered 1, 2, 3, ... A blank line may be missing between two graphs.",
        "Number the words of each graph from 1, and end each graph with a blank line.",
    ),
    "too-many-edges": Entry(
        "The text has too many edges",
        "There are more roles in the ARG columns of the text than the limit.",
        "Split the text.",
    ),
}
MINIPAR = {
    "minipar-bad-indicator": Entry(
        "The third field is not an indicator",
        "A tuple with a head must have < or >, perhaps repeated, before it.",
        "Write the indicator and a space before the head.",
        _TUPLE,
    ),
    "minipar-field-count": Entry(
        "The tuple has a wrong number of fields",
        "A tuple has two fields for a root, and four or five for a word with a head.",
        "Write word and category, then perhaps indicator, head and relation. No field may have a space.",
        _TUPLE,
    ),
    "minipar-no-parentheses": Entry(
        "The line is not a tuple",
        "Each line of a word must be in parentheses.",
        "Write one tuple a line, and a blank line between sentences.",
        _TUPLE,
    ),
    "minipar-three-fields": Entry(
        "The tuple has a third field but no head",
        "An indicator must be followed by a head.",
        "Add the head, or leave the third field out.",
        _TUPLE,
    ),
    "minipar-unwritable": Entry(
        "A word cannot be written as a tuple",
        "A field is empty or has a space, or the head lies outside the sentence.",
        "Write the treebank in another format, such as conllx.",
    ),
}
ALIGNMENT = {
    "alignment-bad-flag": Entry(
        "A field of a link is neither S, P nor a confidence",
        "The fields after the two words of a link may be S or P and one number, each once.",
        "Write the sentence, the two words, and perhaps S or P and a confidence.",
        "1 2 3 S 0.9",
    ),
    "alignment-bad-link": Entry(
        "A link cannot be read",
        "A link must be two numbers with a mark between them.",
        "Write 3-4 for a sure link and 3?4 for a possible one.",
        _LINK,
    ),
    "alignment-index-out-of-range": Entry(
        "The number of a word is negative or too large",
        "A link has a number with a sign, or one beyond the limit of words in a sentence.",
        "Write numbers of words without signs. A word that is not aligned has no link.",
        _LINK,
    ),
    "alignment-line-order": Entry(
        "The numbered lines are not in order",
        "The number before a tab does not follow that of the line before: a sentence pair is missing or moved.",
        "Send every sentence pair, in order.",
    ),
    "alignment-null-unwritable": Entry(
        "A link to NULL cannot be written",
        "Where words count from 0, no number stands for NULL.",
        'Write the links with the format option "base": 1.',
    ),
    "alignment-possible-unwritable": Entry(
        "A possible link cannot be written",
        "The format has no mark for links that are only possible.",
        "Write a format that marks them: pharaoh, talp or naacl.",
    ),
    "alignment-unknown-sentence": Entry(
        "A link names an unknown sentence",
        "The name is not a sentence of the text, or one side has names and the other line numbers.",
        "Number the sentences from 1, or send both sides in the same format.",
    ),
    "alignment-wrong-field-count": Entry(
        "The line has a wrong number of fields",
        "A line of this format has three to five fields that are separated by spaces.",
        "Write the sentence, the two words, and perhaps S or P and a confidence.",
        "1 2 3 S 0.9",
    ),
    "giza-bad-pair": Entry(
        "A sentence pair of GIZA++ cannot be read",
        "Each pair has three lines: its number, the target sentence, and the source words with the numbers of the "
        "target words linked to each.",
        "Send the A3 file as the aligner wrote it.",
        "# Sentence pair (1) source length 1 target length 1 alignment score : 1\noui\nNULL ({ }) yes ({ 1 })",
    ),
    "giza-repeated-pair": Entry(
        "A sentence pair occurs twice",
        "Two pairs have the same number. The last one counts.",
        "Number the pairs differently if they are different sentences.",
    ),
    "parallel-missing-text": Entry(
        "A text of the parallel treebank is missing",
        "A parallel treebank has the texts source, target and alignment.",
        "Add the text that the pointer names.",
    ),
    "parallel-not-three-texts": Entry(
        "The text is not an object of three texts",
        "A parallel treebank in one file is a JSON object; this text is not valid JSON.",
        "Send a JSON object of the strings source, target and alignment, or three files.",
        '{"source": "...", "target": "...", "alignment": "..."}',
    ),
    "parallel-sentence-count": Entry(
        "The three texts have different numbers of sentences",
        "Target and alignment must have a sentence for each sentence of source.",
        "Send one sentence or line for each sentence of source, in its order.",
    ),
}
FORMATS = {**BRACKETED, **CONLLU, **CUPT, **CONLLX, **SDP, **MINIPAR, **ALIGNMENT}


_EXPORT_WORD = "Hund\t--\tNN\t--\tNK\t500"
_EXPORT_ROOT = '<nt id="s1_VROOT" cat="VROOT"><edge label="--" idref="s1_500"/></nt>'

EXPORT = {
    "export-field-count": Entry(
        "The line has too few fields",
        "A line of a word or constituent has at least five fields: word, tag, morphology, edge label and parent.",
        "Write -- where a field has no value.",
        _EXPORT_WORD,
    ),
    "export-ids-differ": Entry(
        "A sentence begins and ends under different numbers",
        "The numbers after #BOS and #EOS differ, as where the lines between two sentences are lost.",
        "Write the same number after both.",
    ),
    "export-no-begin": Entry(
        "A sentence ends that has not begun",
        "There is an #EOS without a #BOS before it.",
        "Write #BOS and the sentence's number before its first word.",
    ),
    "export-no-end": Entry(
        "A sentence does not end",
        "The next #BOS, or the end of the text, comes before the #EOS of a sentence.",
        "Write #EOS and the sentence's number after its last line.",
    ),
    "export-no-id": Entry(
        "A sentence has no number",
        "Nothing follows #BOS. Sentences are matched by what follows it.",
        "Write a number after #BOS and #EOS.",
    ),
    "export-repeated-node": Entry(
        "Two constituents have one number",
        "A number, such as #500, stands twice at the beginning of a line of one sentence.",
        "Give each constituent a number of its own.",
    ),
    "export-word-after-node": Entry(
        "A word follows a constituent",
        "All words of a sentence stand before its constituents, whose numbers begin at #500.",
        "Move the words before the constituents, and number these from #500 on.",
    ),
}
DISCBRACKET = {
    "discbracket-index-gap": Entry(
        "The indices of the words have a gap",
        "An index is not below the number of words in the line.",
        "Number the words of each sentence from 0 in their order.",
        "(ROOT (S (VP (VB 0=eat) (NP (NN 2=them))) (RB 1=now)))",
    ),
    "discbracket-leaf": Entry(
        "A leaf has no index or no word",
        "Each leaf is the position of the word from 0, an equals sign and the word.",
        "Write 0=dogs. In words, brackets are #LRB# and #RRB#.",
        "(ROOT (NP (NN 0=dogs)))",
    ),
    "discbracket-repeated-index": Entry(
        "An index stands twice",
        "Two words of one tree have the same position.",
        "Give each word of a sentence an index of its own.",
    ),
}
TIGERXML = {
    "tigerxml-empty-word": Entry(
        "A word is empty",
        "The attribute word of a t has no character.",
        "Write the word, or leave the element out.",
    ),
    "tigerxml-no-attribute": Entry(
        "An attribute is missing",
        "s needs an id, graph a root, t an id, a word and a pos, nt an id and a cat, edge an idref.",
        "Write the attribute.",
        '<t id="s1_1" word="Hund" pos="NN"/>',
    ),
    "tigerxml-repeated-id": Entry(
        "An id stands twice in a sentence",
        "Two words or constituents of one sentence have the same id.",
        "Give each an id of its own.",
    ),
    "tigerxml-root": Entry(
        "The root is unknown",
        "The attribute root of graph names no word and no constituent of the sentence.",
        "Write the id of the node above all others.",
        _EXPORT_ROOT,
    ),
    "tigerxml-structure": Entry(
        "An element stands at the wrong place",
        "An edge stands outside an nt, a sentence inside another, or a sentence has two graphs.",
        "Move the element.",
        _EXPORT_ROOT,
    ),
    "tigerxml-two-parents": Entry(
        "A node is below two constituents",
        "Two edges lead to one word or constituent, so that the graph is not a tree.",
        "Leave one edge, and make the others secedge, which are not read.",
    ),
    "tigerxml-unknown-id": Entry(
        "An edge leads to nothing",
        "The idref of an edge is the id of no word and no constituent of the sentence.",
        "Correct the idref.",
    ),
    "xml-doctype": Entry(
        "The document has a document type",
        "Document types can declare entities that grow without bound or that name other files; none is read.",
        "Remove the <!DOCTYPE ...>.",
    ),
    "xml-malformed": Entry(
        "The XML is malformed",
        "The document breaks a rule of XML: a tag is not closed, an entity is unknown, a character is not allowed.",
        "Correct it at the place that is named, or before it.",
    ),
}
TREES = {
    "node-in-cycle": Entry(
        "A constituent is below itself",
        "Going from parent to parent leads back to the constituent.",
        "Correct the parents, so that each constituent is below the root.",
    ),
    "node-without-words": Entry(
        "A constituent has no words",
        "Nothing is below a constituent, or only constituents without words.",
        "Remove it, or put words below it.",
    ),
    "repeated-sentence-id": Entry(
        "Two sentences have one name",
        "Sentences are matched by their names, and a name stands twice.",
        "Give each sentence a name of its own.",
    ),
    "trees-unwritable": Entry(
        "A tree cannot be written in the format",
        "The format has no way to write a word, a label or a root of this tree; it would be read as another one.",
        "Write the treebank in another format.",
    ),
    "unknown-parent": Entry(
        "The parent is unknown",
        "A word or constituent has no parent, or one that the sentence does not have.",
        "Write the number of a constituent of the sentence, or 0 for the root.",
        _EXPORT_WORD,
    ),
}
GAP_TREES = {**EXPORT, **DISCBRACKET, **TIGERXML, **TREES}
