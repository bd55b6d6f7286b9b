// A planted set of findings with known duplicates: defects at places, reported in different words, with hard pairs. Half of the kinds of defects is for development, the other half for measurement.
import { createRandom } from '../src/checks/index.ts';
import type { Finding } from '../src/agent/patterns/index.ts';

/** A finding with the defect that it reports. */
export type PlantedFinding = Finding & { readonly defect: number };

/**
 * The wordings of one kind of defect: the first three say it with the usual terms, the last two share few words with the others. `#` is the name that
 * the code uses; not every wording has it.
 */
const wordings: Readonly<Record<string, readonly string[]>> = {
  injection: [
    'User input is concatenated into the SQL query of #, which allows SQL injection.',
    'SQL injection: the query in # is built from user input.',
    'Possible injection, because the query is a string with input of the user instead of bound parameters.',
    '# does not use placeholders.',
    'An attacker can change the statement that the database executes.',
  ],
  leak: [
    'The file handle opened in # is never closed.',
    '# leaks a file handle: it is not closed on the error path.',
    'Resource leak: the handle of the file stays open if reading throws.',
    'Missing finally block in #.',
    'The process runs out of descriptors after some hours.',
  ],
  race: [
    'Race condition: the counter in # is read and written without a lock.',
    '# has a race, because two threads can write the counter at the same time without a lock.',
    'The counter is not protected by a lock, so concurrent writes race.',
    'Check and use are not atomic here.',
    'Parallel calls of # overwrite the results of each other.',
  ],
  bounds: [
    'Off-by-one error: the loop in # skips the last element.',
    'The loop over the elements ends one too early, so that the last element is skipped (off by one).',
    '# has an off-by-one error in its loop condition.',
    'Should be <= instead of <.',
    'The final row is missing in the result of #.',
  ],
  nulls: [
    'The result of the lookup in # can be undefined, and its property is read without a check.',
    'Possible null dereference: # may return undefined and is not checked.',
    'No check for undefined before the property is read.',
    'A TypeError is thrown if nothing was found.',
    'Missing guard in #.',
  ],
  secrets: [
    'The API key is hard-coded in #.',
    'A hard-coded API key is in the source code of #.',
    'Secret in the source: the key of the API is written into the code.',
    '# contains a credential.',
    'Load the token from the environment instead.',
  ],
  errors: [
    'The error caught in # is ignored.',
    'Empty catch block: errors of # are ignored.',
    'The catch block swallows the error without logging it.',
    'A failure of # looks like a success to its caller.',
    'Exceptions get lost.',
  ],
  time: [
    'The timeout of # is given in seconds but used as milliseconds.',
    'Unit mismatch: the timeout is in seconds, and # expects milliseconds.',
    'Seconds are passed as the timeout where milliseconds are expected.',
    'The wait is a thousand times too short.',
    '# gives up almost at once.',
  ],
  shell: [
    'The branch name is passed to a shell in # without quoting, which allows command injection.',
    'Command injection: # passes the branch name to a shell.',
    'The shell command is built from an unquoted branch name.',
    'Use execFile with a list of arguments in #.',
    'A semicolon in the argument starts a second program.',
  ],
  path: [
    'Path traversal: # accepts file names with "..", so files outside the root can be read.',
    '# does not check that the path stays inside the root, which allows path traversal.',
    'File names with ".." lead outside the root.',
    'A request can read any document of the server.',
    'The name of the upload is joined to the folder without normalisation in #.',
  ],
  cache: [
    'The cache of # is never invalidated, so stale entries are returned after an update.',
    '# returns stale entries from its cache after an update.',
    'Stale cache: entries are not invalidated when the data is updated.',
    'Old values are served because nothing removes them on write.',
    "Users see yesterday's prices in #.",
  ],
  await: [
    'The promise returned by # is not awaited, so its errors are lost.',
    'Missing await before the call of #; the promise and its errors are lost.',
    'Floating promise: it is neither awaited nor are its errors handled.',
    'The function returns before the work is done.',
    'An unhandled rejection can end the process in #.',
  ],
  crypto: [
    '# hashes passwords with MD5, which is a weak hash.',
    'Weak hash: passwords are hashed with MD5 in #.',
    'MD5 is broken and must not be used to hash passwords.',
    'Use a slow key derivation function in #.',
    'Stored credentials can be recovered by brute force.',
  ],
  float: [
    'Money is stored as a floating-point number in #, which gives rounding errors.',
    'Rounding errors: # adds money amounts as floating-point numbers.',
    'Floating-point numbers are used for money amounts.',
    'Use integer cents instead of decimals.',
    'The total of # can differ from the sum of its lines.',
  ],
  regex: [
    'The regular expression in # needs exponential time for hostile input (ReDoS).',
    'ReDoS: the regular expression of # has catastrophic backtracking.',
    'Catastrophic backtracking in the regular expression with hostile input.',
    'Nested quantifiers match the same characters.',
    'A long line blocks the event loop in #.',
  ],
  auth: [
    '# does not check whether the user owns the record: missing authorisation.',
    'Missing authorisation check in #, any user can read the record.',
    'The user is not authorised: it is not checked who owns the record.',
    'Any signed-in account can change the data of another one.',
    'The handler # trusts the id in the request body.',
  ],
};

const names =
  'loadUser saveOrder parseHeader readConfig sendMail openSocket copyRows mergeTree flushQueue renderPage findToken updateIndex splitLine packBatch closePool checkQuota'.split(
    ' ',
  );
const folders = ['src/api', 'src/store', 'lib', 'server/routes'];

/** Options of a planted set. */
export type PlantedOptions = {
  readonly kinds: 'development' | 'measurement';
  readonly seed: number;
  readonly defects: number;
};

/** Creates a planted set. It depends on its options alone. */
export function plantFindings({ kinds, seed, defects }: PlantedOptions): readonly PlantedFinding[] {
  const random = createRandom(seed);
  const below = (max: number): number => Math.floor(random() * max);
  const all = Object.keys(wordings);
  const half = kinds === 'development' ? all.slice(0, all.length / 2) : all.slice(all.length / 2);
  const findings: PlantedFinding[] = [];
  let place = { file: '', start: 0, name: '' };
  for (let defect = 0; defect < defects; defect++) {
    // Every fifth defect is at the lines of the one before, or beside them, in the same function: another kind at one place.
    const isBeside = defect % 5 === 4;
    place = isBeside
      ? { ...place, start: place.start + below(3) }
      : {
          file: `${folders[below(folders.length)]}/file-${below(Math.max(4, defects / 8))}.ts`,
          start: 1 + below(400),
          name: names[below(names.length)] ?? '',
        };
    const kind = half[(defect + (isBeside ? 1 : 0)) % half.length] ?? '';
    const texts = wordings[kind] ?? [];
    const reports = 1 + below(4);
    for (let i = 0; i < reports; i++) {
      // One of four reports uses other terms.
      const wording = below(4) === 0 ? 3 + below(2) : below(3);
      const text = (texts[wording] ?? '').replaceAll('#', place.name);
      // Reporters disagree about the lines by up to two, and about the length of the range.
      const start = Math.max(1, place.start + below(5) - 2);
      const lines: readonly [number, number] = [start, start + below(4)];
      // One of ten reports has no lines, one of twenty no file.
      const part = below(20);
      const where = part === 0 ? {} : part < 3 ? { file: place.file } : { file: place.file, lines };
      findings.push({ text, ...where, defect });
    }
  }
  return shuffle(findings, random);
}

function shuffle<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/** How well clusters match the planted duplicates, by pairs of findings. */
export type PairScores = {
  readonly findings: number;
  readonly defects: number;
  readonly kept: number;
  readonly precision: number;
  readonly recall: number;
  /** Pairs of one defect, pairs that were merged, and pairs that are both. */
  readonly pairs: { readonly planted: number; readonly merged: number; readonly right: number };
};

/** Compares clusters of positions with the planted duplicates. */
export function scorePairs(planted: readonly PlantedFinding[], clusters: readonly (readonly number[])[]): PairScores {
  const countPairs = (sizes: Iterable<number>): number => [...sizes].reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
  const byDefect = (indexes: readonly number[]): Iterable<number> =>
    [...Map.groupBy(indexes, (index) => planted[index]?.defect).values()].map((group) => group.length);
  const all = [...planted.keys()];
  const pairs = {
    planted: countPairs(byDefect(all)),
    merged: countPairs(clusters.map((cluster) => cluster.length)),
    right: clusters.reduce((sum, cluster) => sum + countPairs(byDefect(cluster)), 0),
  };
  return {
    findings: planted.length,
    defects: new Set(planted.map(({ defect }) => defect)).size,
    kept: clusters.length,
    pairs,
    precision: pairs.merged === 0 ? 1 : pairs.right / pairs.merged,
    recall: pairs.planted === 0 ? 1 : pairs.right / pairs.planted,
  };
}
