"""What a shell command plainly writes to: precise before complete, and nothing where it is not plain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlock.domain.shellgit import FOLDER, WORKTREE
from gitlock.domain.shellwrites import look_at_command

PLAIN = {
    "echo x > a.py": ["a.py"],
    "echo x >>'a b.py' 2>&1": ["a b.py"],
    "> empty": ["empty"],
    "cmd &> log": ["log"],
    "cmd 2>err x": ["err"],
    "cat <<'EOF' > src/b.py\nx > y\nrm z\nEOF\nls": ["src/b.py"],
    "tee -a log other < x": ["log", "other"],
    "sed -i s/a/b/ src/a.py": ["src/a.py"],
    "sed -i.bak -e s/a/b/ x y": ["x", "y"],
    "sed -Ei '' 's/x/y/' f": ["f"],
    "perl -pi -e 's/x/y/' a b": ["a", "b"],
    "rm -rf -- build": ["build"],
    "mv a b": ["a", "b"],
    "mv -t d a b": ["a", "b", "d"],
    "cp a b": ["b"],
    "dd if=x of=y": ["y"],
    "truncate -s 0 a": ["a"],
    "ln -sf ../x y": ["y"],
    "cd src && sed -i s/a/b/ a.py": ["src/a.py"],
    "cd src; cd ../lib; rm a": ["src/../lib/a"],
    "(cd src; rm a); rm b": ["src/a", "b"],
    "cd x | rm y": ["y"],
    "cd /tmp && rm y": ["/tmp/y"],
    "FOO=1 sudo tee /etc/x": ["/etc/x"],
    "bash -c 'rm x > y'": ["y", "x"],
    "if true; then rm z; fi": ["z"],
    "git -C ../w checkout -- a b": ["../w/a", "../w/b"],
    "git restore -s HEAD~1 a": ["a"],
    "git rm a": ["a"],
    "git mv a b": ["a", "b"],
    "git stash push -- a": ["a"],
    "patch -p1 <<E\n--- a/x\n+++ b/x\nE": ["x"],
    "patch old.c": ["old.c"],
}

# Nothing is plain here, or nothing is written.
SILENT = [
    "echo $X > $Y", 'echo hi > "$F"', "cat x > /dev/null", "rm *.py", "cd $D && rm a", "cd - ; rm q", "sed -n 5p x",
    "git reset a", "git restore --staged a", "git rm --cached a", "git checkout -b --help", "f() { rm x; }",
    "python - <<EOF\nopen('x','w')\nEOF", "echo 'unterminated", "[[ a > b ]]", "git lock release src", "$(rm x)",
    "echo `rm x`", "for f in *.py; do sed -i s/a/b/ $f; done", "rm a{1,2}", "diff <(a) <(b) > x",
    "case x in y) rm z;; esac",
    "git --git-dir=x checkout -- a", "eval rm x", "cp a", "", "\0",
]  # fmt: skip


@pytest.mark.parametrize("command", PLAIN)
def test_a_plain_write_is_seen(command: str) -> None:
    assert [write.path for write in look_at_command(command).writes] == PLAIN[command]


@pytest.mark.parametrize("command", SILENT)
def test_what_is_not_plain_is_not_guessed(command: str) -> None:
    assert look_at_command(command).writes == ()


BELOW = ["git checkout .", "git clean -fd", "git restore ."]
WHOLE = [
    "git reset --hard", "git stash", "git stash pop", "git switch main", "git switch -c new", "git switch -",
    "git checkout -b new", "git checkout -", "git checkout -f main", "git rebase main", "git rebase --abort",
    "git pull", "git merge topic", "git merge --abort", "git switch $BRANCH",
]  # fmt: skip
QUIET = [
    "git merge --quit", "git rebase --show-current-patch", "git pull --dry-run", "git switch -h", "git checkout HEAD",
    "git stash list", "git clean -n", "git checkout $BRANCH", "git reset HEAD~1", "git merge-base a b",
]  # fmt: skip


@pytest.mark.parametrize("command", [*BELOW, *WHOLE])
def test_a_command_about_the_whole_tree_is_one(command: str) -> None:
    sweeps = FOLDER if command in BELOW else WORKTREE
    (write,) = look_at_command(command).writes
    assert (write.path, write.tree, write.sweeps) == (".", True, sweeps)


@pytest.mark.parametrize("command", QUIET)
def test_one_that_looks_like_it_and_is_not_is_none(command: str) -> None:
    assert look_at_command(command).writes == ()


def test_a_file_that_goes_into_a_folder_is_named_with_it() -> None:
    (write,) = look_at_command("cp x/a.py b.py there").writes
    assert (write.path, write.inside) == ("there", ("a.py", "b.py"))


def test_what_a_checkout_names_is_a_file_only_if_there_is_one() -> None:
    file, branch = look_at_command("git -C sub checkout topic/x").writes
    assert (file.path, file.there) == ("sub/topic/x", True)
    assert (branch.path, branch.sweeps, branch.unless) == ("sub/.", WORKTREE, "topic/x")


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("ls -la && git status | head -3", True),
        ("grep -rn x src 2>/dev/null", True),
        ("cd src && cat a", True),
        ("make", False),
        ("git diff > p", False),
        ("cat x | tee y", False),
        ("git pull", False),
        ("echo `make`", False),
    ],
)
def test_a_command_that_only_reads_is_known(command: str, reads: bool) -> None:
    assert look_at_command(command).reads is reads


def test_an_apply_patch_alone_is_an_edit_of_its_files() -> None:
    patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Add File: c\n*** Delete File: d\n*** End Patch"
    seen = look_at_command(f"cd s && apply_patch <<'EOF'\n{patch}\nEOF\n")
    assert seen.patched == ("s/a", "s/b", "s/c", "s/d") and seen.writes == ()


@given(st.text(alphabet="ab/.-<>&|;(){}'\"\\$`\n \t#*=12eE", max_size=60))
def test_no_text_makes_it_fail(command: str) -> None:
    seen = look_at_command(command)
    assert all(write.path and "\0" not in write.path for write in seen.writes)
