"""All pages: the blueprints that the application serves."""

from __future__ import annotations

from service.pages import (
    about,
    admin,
    admin_teams,
    admin_webhooks,
    benchmarks,
    board,
    compare,
    job,
    job_form,
    job_sentences,
    join,
    matrix,
    revisions,
    sentences,
    sign_in,
    static_files,
    submission,
    submit,
)
from service.pages.docs import guide_pages, overview, problem_entries, reference, search

DOCS = (overview.blueprint, reference.blueprint, guide_pages.blueprint, search.blueprint, problem_entries.blueprint)
PAGES = (
    about.blueprint,
    admin.blueprint,
    admin_teams.blueprint,
    admin_webhooks.blueprint,
    benchmarks.blueprint,
    board.blueprint,
    compare.blueprint,
    job.blueprint,
    job_form.blueprint,
    job_sentences.blueprint,
    join.blueprint,
    matrix.blueprint,
    revisions.blueprint,
    sentences.blueprint,
    sign_in.blueprint,
    static_files.blueprint,
    submission.blueprint,
    submit.blueprint,
    *DOCS,
)
