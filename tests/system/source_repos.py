"""Small git repositories for tests to index and change."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}

PYTHON = '''"""Money in accounts."""

from dataclasses import dataclass

OVERDRAFT_CENTS_MAX = 50_000


class InsufficientFundsError(Exception):
    """There is less in the account than is wanted of it."""


@dataclass
class Account:
    """What somebody has with us."""

    owner: str
    balance_cents: int = 0

    def withdraw(self, cents: int) -> int:
        """Take money out, down to the overdraft limit."""
        if self.balance_cents - cents < -OVERDRAFT_CENTS_MAX:
            raise InsufficientFundsError(self.owner)
        self.balance_cents -= cents
        return self.balance_cents

    def deposit(self, cents: int) -> int:
        """Put money in."""
        self.balance_cents += cents
        return self.balance_cents


def transfer_funds(source: Account, target: Account, cents: int) -> None:
    """Move money between two accounts, all of it or nothing."""
    source.withdraw(cents)
    target.deposit(cents)
'''

TYPESCRIPT = """export interface RetryPolicy {
  attempts: number;
  firstPauseMs: number;
}

/** Wait longer after each failure, and give up in the end. */
export async function retryWithBackoff<T>(work: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  let pauseMs = policy.firstPauseMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= policy.attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs *= 2;
    }
  }
}
"""

GO = """package cache

import "container/list"

// LruCache keeps the entries that were used last.
type LruCache struct {
	capacity int
	order    *list.List
	entries  map[string]*list.Element
}

// EvictOldest drops the entry that was not used for the longest time.
func (c *LruCache) EvictOldest() {
	oldest := c.order.Back()
	if oldest != nil {
		c.order.Remove(oldest)
		delete(c.entries, oldest.Value.(string))
	}
}
"""

RUST = """/// A point on a sphere, in degrees.
pub struct Place {
    pub latitude: f64,
    pub longitude: f64,
}

/// Distance along the great circle, in kilometres.
pub fn haversine_distance(from: &Place, to: &Place) -> f64 {
    let half = ((to.latitude - from.latitude).to_radians() / 2.0).sin();
    let side = ((to.longitude - from.longitude).to_radians() / 2.0).sin();
    let chord = half * half + from.latitude.to_radians().cos() * to.latitude.to_radians().cos() * side * side;
    2.0 * 6371.0 * chord.sqrt().asin()
}
"""

JAVA = """package org.example.mail;

public class AddressParser {
    /** Splits an address at its last at-sign. */
    public String[] splitAddress(String address) {
        int at = address.lastIndexOf('@');
        if (at < 1) {
            throw new IllegalArgumentException("no mailbox: " + address);
        }
        return new String[] {address.substring(0, at), address.substring(at + 1)};
    }
}
"""

MARKDOWN = """# Ledger

A small bank for examples.

## Installation

Unpack the archive and run the wizard named `setup-ledger`. It asks for a currency and makes the books.

## Overdraft rules

An account may go below zero by five hundred coins and no further.
"""

FILES: dict[str, str | bytes] = {
    "bank/account.py": PYTHON,
    "web/retry.ts": TYPESCRIPT,
    "cache/lru.go": GO,
    "geo/src/distance.rs": RUST,
    "mail/src/AddressParser.java": JAVA,
    "docs/guide.md": MARKDOWN,
    "deploy/service.yaml": "name: ledger\nreplicas: 3\nport: 8443\n",
    "logo.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(200),
    ".gitignore": "build/\n*.tmp\n",
    "build/output.py": "THIS_IS_IGNORED = True\n",
}
# All files that .gitignore does not exclude; logo.png is listed and skipped.
SEEN, SKIPPED = len(FILES) - 1, 1


class GitRepo:
    """A git working tree."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes] | None = None) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        if files:
            self.write(files)
            self.commit("Begin")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.folder), *arguments],
            env=os.environ | GIT_ENVIRONMENT,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.strip()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, message: str = "Go on") -> str:
        """Commits the whole tree; returns the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")
