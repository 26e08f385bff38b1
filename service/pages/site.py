"""All pages: the blueprints that the application serves."""

from __future__ import annotations

from service.pages import (
    about,
    admin,
    answers,
    benchmarks,
    board,
    compare,
    job,
    matrix,
    sentences,
    sign_in,
    submission,
    submit,
)
from service.pages.docs import pages

DOCS = (
    pages.overview_blueprint,
    pages.reference_blueprint,
    pages.guide_blueprint,
    pages.search_blueprint,
    pages.problem_blueprint,
)
PAGES = (
    about.blueprint,
    admin.blueprint,
    admin.teams_blueprint,
    admin.webhooks_blueprint,
    benchmarks.blueprint,
    board.blueprint,
    compare.blueprint,
    job.blueprint,
    job.form_blueprint,
    sentences.job_blueprint,
    sign_in.join_blueprint,
    matrix.blueprint,
    about.revisions_blueprint,
    sentences.blueprint,
    sign_in.blueprint,
    answers.static_blueprint,
    submission.blueprint,
    submit.blueprint,
    *DOCS,
)
