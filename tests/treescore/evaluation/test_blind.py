"""What participants get of gold: its words, and no annotation."""

from __future__ import annotations

from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import Vocabulary
from treescore.evaluation.blind import blind_inputs, word_count

UD = """# newdoc id = secret-doc
# sent_id = secret-id
# text = Vámonos al mar.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tsecret-misc
1\tVamos\tir\tVERB\tv\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tp\t_\t1\tobj\t_\tsecret-misc
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\ts\t_\t5\tcase\t_\t_
4\tel\tel\tDET\td\t_\t5\tdet\t_\t_
4.1\tempty\tempty\tNOUN\tn\t_\t_\t_\t5:dep\t_
5\tmar\tmar\tNOUN\tn\t_\t1\tobl\t_\tSpaceAfter=No|Gloss=sea
6\t.\t.\tPUNCT\tf\t_\t1\tpunct\t_\t_

1\tSí\tsí\tINTJ\ti\t_\t0\troot\t_\tSpaceAfter=No
2\t.\t.\tPUNCT\tf\t_\t1\tpunct\t_\t_

# newdoc id = another
1\tNo\tno\tINTJ\ti\t_\t0\troot\t_\t_

"""
WORDS = """1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\t_\t_\t_\t_\t_\t_\t_\t_
2\tnos\t_\t_\t_\t_\t_\t_\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\t_\t_\t_\t_\t_\t_\t_\t_
4\tel\t_\t_\t_\t_\t_\t_\t_\t_
5\tmar\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
6\t.\t_\t_\t_\t_\t_\t_\t_\t_

1\tSí\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\t.\t_\t_\t_\t_\t_\t_\t_\t_

1\tNo\t_\t_\t_\t_\t_\t_\t_\t_

"""


def read(name, text, **options):
    return make_format(name, options).read(text.encode(), Vocabulary(), DEFAULT_LIMITS)


def test_of_dependency_trees_forms_and_multiword_tokens_stay():
    assert blind_inputs(read("conllu", UD))["words"] == WORDS


def test_running_text_shows_documents_and_spaces_alone():
    assert blind_inputs(read("conllu", UD))["text"] == "Vámonos al mar. Sí.\n\nNo\n"


def test_without_a_text_comment_the_text_is_made_of_tokens():
    assert blind_inputs(read("conllu", UD.replace("# text", "# other")))["text"].startswith("Vámonos al mar. Sí.\n")


def test_whether_a_space_follows_a_multiword_token_is_said_in_its_own_row():
    row = "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t"
    inputs = blind_inputs(read("conllu", UD.replace("# text", "# other").replace(row, row + "SpaceAfter=No|")))
    assert inputs["words"] == WORDS.replace(row + "_", row + "SpaceAfter=No")
    assert inputs["text"].startswith("Vámonosal mar. Sí.\n")


def test_of_trees_traces_go():
    gold = "(TOP (S (NP-1 (DT the) (NN dog)) (VP (VBD slept) (NP (-NONE- *T*-1)))))\n(TOP (NP (NN rain)))\n"
    assert blind_inputs(read("bracketed", gold)) == {"words": "the dog slept\nrain\n", "text": "the dog slept rain\n"}


def test_alignments_hold_no_words_but_those_given_with_them():
    treebank = read("pharaoh", "1-1 2p2\n")
    assert blind_inputs(treebank) == {}
    source, target = "das Haus da\n", "the house there\n"
    assert blind_inputs(treebank, [("das\nHaus  da", "the house there")]) == {
        "source/words": source, "source/text": source, "target/words": target, "target/text": target,
    }  # fmt: skip
    assert word_count(treebank) == 2


def test_words_are_counted():
    assert word_count(read("conllu", UD)) == 9


def test_of_graphs_ids_and_forms_stay():
    treebank = read("sdp", "#SDP 2015\n#7\n1\tHe\the\tPRP\t-\t-\t_\tARG1\n2\truns\trun\tVBZ\t+\t+\tv\t_\n\n")
    inputs = blind_inputs(treebank)
    assert inputs["words"] == "#SDP 2015\n#7\n1\tHe\t_\t_\t-\t-\t_\n2\truns\t_\t_\t-\t-\t_\n\n"
    assert inputs["text"] == "He runs\n"
    assert word_count(treebank) == 2
