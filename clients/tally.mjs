/** Counts what was claimed, and prints it as it comes. */
export function newTally() {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let failedBefore = 0;
  let since = 0;
  const tell = (mark, what) => {
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    since = performance.now();
    console.log(`  ${mark} ${what} (${seconds} s)`);
  };
  const tally = {
    open(title) {
      failedBefore = counts.failed;
      since = performance.now();
      console.log(title);
    },
    pass(what) {
      counts.passed += 1;
      tell('✓', what);
    },
    fail(what, error) {
      counts.failed += 1;
      tell('✗', `${what}\n${error.stack}`);
    },
    skip(what, reason) {
      counts.skipped += 1;
      tell('–', `${what}: skipped, ${reason}`);
    },
    hasFailed: () => counts.failed > failedBefore,
    claims: (scenario) => claimsOf(tally, scenario),
    close() {
      console.log(`clients: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
      return counts.failed > 0 ? 1 : 0;
    },
  };
  return tally;
}

/** In a chain what comes later needs what came before: after a failure the rest would only wait. */
function claimsOf(tally, { title, programs, isChain }) {
  const lacks = programs.flatMap(({ lacks = [] }) => lacks).filter(({ scenario = title }) => scenario === title);
  let isOver = false;
  return {
    async claim(what, check) {
      if (isOver) throw new Error('the scenario is over');
      const lack = lacks.find((one) => one.what === what);
      if (lack) return tally.skip(what, lack.why);
      if (isChain && tally.hasFailed()) return tally.skip(what, 'what it needs has failed');
      try {
        await check();
        if (!isOver) tally.pass(what);
      } catch (error) {
        if (!isOver) tally.fail(what, error);
      }
    },
    end() {
      isOver = true;
    },
  };
}
