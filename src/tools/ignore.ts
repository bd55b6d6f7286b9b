// What a .gitignore file leaves out, as far as its patterns go: the last pattern that fits a path decides.
import type picomatch from 'picomatch';

/** Decides about a path below the folder of its file: left out, kept in spite of earlier patterns, or not spoken of. */
export type Ignore = (path: string, isFolder: boolean) => boolean | undefined;

/** Reads the patterns of one file; `match` makes a matcher of a glob. */
export function ignoreFrom(text: string, match: typeof picomatch): Ignore {
  const patterns = text.split('\n').flatMap((line) => {
    const read = patternOf(line);
    return read ? [{ ...read, fits: match(read.globs, { dot: true }) }] : [];
  });
  return (path, isFolder) => patterns.findLast((each) => (isFolder || !each.foldersOnly) && each.fits(path))?.ignored;
}

type Pattern = { readonly globs: string[]; readonly foldersOnly: boolean; readonly ignored: boolean };

function patternOf(line: string): Pattern | undefined {
  const given = line.replace(/\r$/, '').replace(/(?<!\\)\s+$/, '');
  if (given === '' || given.startsWith('#')) return undefined;
  const ignored = !given.startsWith('!');
  const body = (ignored ? given : given.slice(1)).replace(/^\\(?=[#!])/, '');
  const foldersOnly = body.endsWith('/');
  const bare = body.replace(/\/+$/, '');
  // A slash at the beginning or in the middle ties a pattern to its folder; without one it fits at any depth.
  const tied = bare.includes('/');
  const glob = bare.replace(/^\//, '');
  return glob === '' ? undefined : { globs: tied ? [glob] : [glob, `**/${glob}`], foldersOnly, ignored };
}
