"""Completion in real shells at a real terminal, of `git lock …` and of `git-lock …`."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit import terminal
from tests.kit.repo import Repo
from tests.kit.terminal import ALL, TAB, Shell

GITS = next(
    (
        place
        for place in ("/usr/share/bash-completion/completions/git", "/etc/bash_completion.d/git-completion.bash")
        if Path(place).exists()
    ),
    "",
)
SETUP = {
    "bash": f'source {GITS}; eval "$(git lock completion bash)"',
    "zsh": 'compinit -u -d $DUMP; eval "$(git lock completion zsh)"',
    "fish": "git lock completion fish | source",
}
START = {"bash": terminal.bash, "zsh": terminal.zsh, "fish": terminal.fish}

# What would run something, end a word, or move the cursor, if it were ever taken for anything but text.
NASTY = "a $(touch pwned) `touch pwned`; it's \"x\" &|<>#~*[y]{1,2}\\"
LOUD = "b! $(touch pwned) !!"

both = pytest.mark.parametrize("program", ["git lock", "git-lock"])


def needs(shell: str) -> None:
    """Skips where the shell, or git's own completion for it, is not installed."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    if shell == "bash" and not GITS:
        pytest.skip("git's own completion for bash is not installed")


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """alice holds src/auth/* and a path of a nasty name; bob holds deploy:staging and web/index.html,
    and asks alice for a file."""
    files = {
        "src/auth/login.py": "1\n",
        "web/index.html": "1\n",
        ".gitlock.toml": 'version = 1\n[[key]]\nname = "schema:main"\npaths = ["db/**"]\n',
    }
    repo = Repo.new(tmp_path_factory.mktemp("completion"), files)
    repo.lock("claim", "deploy:staging", "web/index.html", agent="bob").ok()
    repo.lock("claim", "src/auth/*").ok()
    repo.lock("claim", "--path", NASTY).ok()
    repo.lock("claim", "--path", LOUD).ok()
    repo.lock("request", "src/auth/login.py", "-m", "one line in it", agent="bob").ok()
    return repo


@pytest.fixture(scope="module", params=list(START))
def shell(request: pytest.FixtureRequest, repo: Repo) -> Iterator[Shell]:
    """Each shell in turn, alice's, at the top of the repository."""
    needs(request.param)
    with START[request.param](repo.path, SETUP[request.param], agent="alice") as started:
        yield started


@pytest.fixture(scope="module", params=["bash", "zsh"])
def listing(request: pytest.FixtureRequest, repo: Repo) -> Iterator[Shell]:
    """Those shells that can put all candidates on the line."""
    needs(request.param)
    with START[request.param](repo.path, SETUP[request.param], agent="alice") as started:
        yield started


@both
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("rel", "release "),
        ("claim --sha", "claim --shared "),
        ("claim --kind h", "claim --kind human "),
        ("claim --color=n", "claim --color=never "),
        ("claim --shared --kind=b", "claim --shared --kind=bot "),
        ("completion z", "completion zsh "),
        ("release dep", "release deploy:staging "),
        ("release deploy:", "release deploy:staging "),
        ("release --quiet dep", "release --quiet deploy:staging "),
        ("release deploy:staging we", "release deploy:staging web/index.html "),
        ("unlock dep", "unlock deploy:staging "),
        ("status --agent b", "status --agent bob "),
        ("status --agent=b", "status --agent=bob "),
        ("claim --key s", "claim --key schema:main "),
        ("claim sch", "claim schema:main "),
        ("claim src/au", "claim src/auth/"),
        ("who src/auth/l", "who src/auth/login.py "),
        ("list --under src/auth/l", "list --under src/auth/login.py "),
        ("steal dep", "steal deploy:staging "),
        ("run dep", "run deploy:staging "),
        ("run sch", "run schema:main "),
        ("run schema:main -- mkfif", "run schema:main -- mkfifo "),
        ("run schema:main -- cat src/auth/l", "run schema:main -- cat src/auth/login.py "),
        ("whoami x", "whoami x"),
    ],
)
def test_a_word_is_completed(shell: Shell, program: str, typed: str, completed: str) -> None:
    assert shell.line(f"{program} {typed}", TAB) == f"{program} {completed}"


@both
def test_every_command_is_offered(listing: Shell, program: str) -> None:
    offered = listing.words(f"{program} ", ALL)
    assert {"claim", "release", "install-man", "whoami"} <= set(offered)


@both
def test_what_is_for_programs_alone_is_not_offered(listing: Shell, program: str) -> None:
    assert listing.line(f"{program} complete-", TAB) == f"{program} complete-"


@both
def test_your_own_claims_come_first(listing: Shell, program: str) -> None:
    offered = listing.words(f"{program} release ", ALL)
    assert offered.index("src/auth/*") < offered.index("deploy:staging")


@both
@pytest.mark.parametrize("typed", ["a", "'a", '"a', "b", "'b"])
@pytest.mark.parametrize("name", START)
def test_a_claim_of_any_text_is_completed_to_one_word_that_names_it(
    repo: Repo, tmp_path: Path, program: str, typed: str, name: str
) -> None:
    needs(name)
    said = tmp_path / "said"
    with START[name](repo.path, SETUP[name]) as shell:
        shell.run(f"{program} status {typed}", TAB, f"> {said}.new 2>&1; mv {said}.new {said}\r", made=said)
    assert ": held by alice" in said.read_text()


def test_bash_offers_nothing_that_its_history_would_change_inside_double_quotes(repo: Repo) -> None:
    needs("bash")
    with terminal.bash(repo.path, SETUP["bash"]) as shell:
        assert shell.line('git lock release "b', TAB) == 'git lock release "b'


@both
def test_a_request_is_completed_for_the_one_who_may_answer_it(repo: Repo, shell: Shell, program: str) -> None:
    (request,) = repo.json("inbox")["data"]["requests"]
    assert shell.line(f"{program} grant ", TAB) == f"{program} grant {request['id']} "


@both
def test_nothing_that_is_completed_is_executed(listing: Shell, repo: Repo, program: str) -> None:
    listing.line(f"{program} release ", ALL)
    assert not (repo.path / "pwned").exists()


def test_bash_leaves_alone_what_only_it_can_work_out(repo: Repo, tmp_path: Path) -> None:
    needs("bash")
    with terminal.bash(repo.path, SETUP["bash"]) as shell:
        shell.line(f"git lock release $(touch {tmp_path}/made)", TAB)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", START)
def test_claims_are_completed_as_one_types_them_in_a_subfolder(repo: Repo, name: str) -> None:
    needs(name)
    with START[name](repo.path / "src", SETUP[name]) as shell:
        assert shell.line("git lock release ../w", TAB) == "git lock release ../web/index.html "


@pytest.mark.parametrize("name", ["bash", "zsh"])
@pytest.mark.parametrize("alias", ["lock claim", "!git lock claim"])
def test_an_alias_is_completed_as_what_it_stands_for(tmp_path: Path, repo: Repo, name: str, alias: str) -> None:
    needs(name)
    there = repo.clone(tmp_path.name)
    there.git("config", "alias.take", alias)
    with START[name](there.path, SETUP[name]) as shell:
        assert shell.line("git take --sha", TAB) == "git take --shared "


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_the_claims_are_those_of_the_repository_that_git_is_sent_to(repo: Repo, tmp_path: Path, name: str) -> None:
    needs(name)
    with START[name](tmp_path, SETUP[name]) as shell:
        typed = f"git -C {repo.path} lock release dep"
        assert shell.line(typed, TAB) == f"{typed}loy:staging "


@pytest.mark.parametrize("name", START)
def test_outside_a_repository_completion_is_silent(tmp_path: Path, name: str) -> None:
    needs(name)
    with START[name](tmp_path, SETUP[name]) as shell:
        assert shell.line("git lock release dep", TAB) == "git lock release dep"
        assert "fatal" not in shell.screen and "git-lock:" not in shell.screen


def test_bash_completes_the_program_without_gits_own_completion(repo: Repo) -> None:
    needs("bash")
    with terminal.bash(repo.path, 'eval "$(git-lock completion bash)"') as shell:
        assert shell.line("git-lock release deploy:", TAB) == "git-lock release deploy:staging "


def test_bash_completes_an_agent_whose_name_holds_an_at_sign(repo: Repo, tmp_path: Path) -> None:
    needs("bash")
    there = repo.clone(tmp_path.name)
    there.lock("claim", "x", agent=None).ok()
    with terminal.bash(there.path, SETUP["bash"]) as shell:
        assert shell.line("git lock status --agent dana@ex", TAB) == "git lock status --agent dana@example.com "


def test_bash_loads_the_script_where_its_completion_package_looks(repo: Repo, home: Path) -> None:
    package = Path("/usr/share/bash-completion/bash_completion")
    if not package.exists():
        pytest.skip("bash-completion is not installed")
    folder = home / ".local/share/bash-completion/completions"
    folder.mkdir(parents=True)
    (folder / "git-lock").write_text(repo.lock("completion", "bash").ok().out)
    with terminal.bash(repo.path, f"source {package}") as shell:
        assert shell.line("git lock release dep", TAB) == "git lock release deploy:staging "


@both
def test_zsh_loads_the_script_from_its_function_path(repo: Repo, tmp_path: Path, program: str) -> None:
    needs("zsh")
    (tmp_path / "_git-lock").write_text(repo.lock("completion", "zsh").ok().out)
    with terminal.zsh(repo.path, f"fpath=({tmp_path} $fpath); compinit -D -u") as shell:
        assert shell.line(f"{program} release dep", TAB) == f"{program} release deploy:staging "


def test_zsh_knows_the_command_by_its_description(repo: Repo, tmp_path: Path) -> None:
    needs("zsh")
    (tmp_path / "_git-lock").write_text(repo.lock("completion", "zsh").ok().out)
    with terminal.zsh(repo.path, f"fpath=({tmp_path} $fpath); compinit -D -u; setopt auto_list") as shell:
        shell.line("git lo", TAB, TAB)
        assert "leases on paths and named keys" in shell.screen


def test_zsh_keeps_the_commands_that_somebody_added_to_git(repo: Repo) -> None:
    needs("zsh")
    own = "zstyle ':completion:*:*:git:*' user-commands absurd:'of my own'"
    with terminal.zsh(repo.path, f"{own}; {SETUP['zsh']}") as shell:
        assert shell.line("git absu", TAB) == "git absurd "


@pytest.mark.parametrize("shell_name", START)
def test_the_script_has_every_option_of_a_command(repo: Repo, shell_name: str) -> None:
    script = repo.lock("completion", shell_name).ok().out
    help_text = repo.lock("claim", "-h").ok().out
    options = {word.strip(",") for word in help_text.split() if word.startswith("--") and word.strip(",-").isalpha()}
    assert {name for name in options if f"{name[2:]}" not in script} == set()


def test_an_unknown_shell_is_a_mistake_that_names_the_known_ones(repo: Repo) -> None:
    result = repo.lock("completion", "tcsh").ended(2)
    assert "bash, zsh, fish" in result.err
