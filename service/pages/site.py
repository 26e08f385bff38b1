"""All pages: the modules whose blueprints the application serves."""

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

DOCS = (overview, reference, guide_pages, search, problem_entries)
PAGES = (
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
    *DOCS,
)
