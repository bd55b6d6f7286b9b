// Skills: folders with a SKILL.md that tell how to do one kind of work. The model is told their names; the rest is read when it asks.
import path from 'node:path';
import { wrapUntrusted } from '../../core/index.ts';
import { tryRealPath, type FileProblem } from './paths.ts';
import { parseFrontmatter, textField } from './frontmatter.ts';
import { readDirEntries, boundaryError, resourceDirs, type ProjectLocation, type ResourceDir } from './search-dirs.ts';
import { readTextFile } from './text-file.ts';

/** A skill as it was found; what it says is read when it is loaded. */
export type Skill = {
  readonly name: string;
  readonly description: string;
  readonly folder: string;
  /** A project's skills were written by whoever wrote the project. */
  readonly scope: 'personal' | 'project';
  /** The folder that its files may not lead out of. */
  readonly inside?: string;
};

/** The skills there are, one a name, and the folders that were passed over. */
export type Skills = { readonly skills: readonly Skill[]; readonly problems: readonly FileProblem[] };

const maxSkills = 200;
const maxSkillBytes = 65_536;
const skillNamePattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Finds the skills for a working folder. A person's own go before a project's of the same name: a project must not stand in for them. */
export async function findSkills(places: ProjectLocation, dirs: readonly string[] = []): Promise<Skills> {
  const problems: FileProblem[] = [];
  const byName = new Map<string, Skill>();
  const seen = new Set<string>();
  const named = dirs.map((folder): ResourceDir => ({ folder, scope: 'personal' }));
  for (const shelf of [...named, ...resourceDirs(places, 'skills', ['.agents', '.claude'])])
    for (const entry of readDirEntries(shelf.folder, problems)) {
      const folder = path.join(shelf.folder, entry.name);
      const real = tryRealPath(path.join(folder, 'SKILL.md'));
      if (real === undefined || seen.has(real)) continue;
      seen.add(real);
      const skill = await readSkill(folder, shelf);
      const earlier = 'why' in skill ? undefined : byName.get(skill.name);
      if ('why' in skill) problems.push({ path: path.join(folder, 'SKILL.md'), why: skill.why });
      else if (earlier)
        problems.push({ path: folder, why: `is hidden by the skill of the same name in ${earlier.folder}` });
      else if (byName.size >= maxSkills)
        problems.push({ path: folder, why: `was left out: there are more than ${maxSkills} skills` });
      else byName.set(skill.name, skill);
    }
  return { skills: [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

async function readSkill(folder: string, shelf: ResourceDir): Promise<Skill | { readonly why: string }> {
  const file = path.join(folder, 'SKILL.md');
  const out = boundaryError(shelf, file);
  if (out) return out;
  const read = readTextFile(file, maxSkillBytes);
  if ('wrong' in read) return read;
  const front = await parseFrontmatter(read.text);
  if ('why' in front) return front;
  const name = textField(front.fields, 'name');
  const description = textField(front.fields, 'description');
  const why = skillError(name, description, path.basename(folder));
  if (why !== undefined) return { why };
  const { folder: _, ...place } = shelf;
  return { name: name as string, description: description as string, folder, ...place };
}

function skillError(name: string | undefined, description: string | undefined, folder: string): string | undefined {
  if (name === undefined) return 'has no name in its frontmatter';
  if (name.length > 64 || !skillNamePattern.test(name))
    return `has the name ${JSON.stringify(name.slice(0, 80))}: a name is at most 64 small letters, digits and single hyphens`;
  if (name !== folder) return `is called ${name} but lies in a folder called ${folder}: they must be the same`;
  if (description === undefined) return 'has no description in its frontmatter';
  if (description.length > 1024) return `has a description of ${description.length} characters: at most 1024`;
  return undefined;
}

const maxListChars = 6_000;

/** What a model is told of the skills: names and descriptions, shortened evenly where they are many; empty without any. */
export function formatSkills(skills: readonly Skill[]): string {
  if (skills.length === 0) return '';
  const fits = skills.reduce((sum, each) => sum + skillLine(each, 1024).length + 1, 0) <= maxListChars;
  const share = fits ? 1024 : Math.max(0, Math.floor(maxListChars / skills.length) - 24);
  const personal = skills.filter((each) => each.scope === 'personal').map((each) => skillLine(each, share));
  const project = skills.filter((each) => each.scope === 'project').map((each) => skillLine(each, share));
  return [
    'Skills tell how to do one kind of work. Before work that one of these fits, load it with load_skill and follow it.',
    ...personal,
    ...(project.length ? [wrapUntrusted('the skills of this project', project.join('\n'))] : []),
  ].join('\n');
}

function skillLine({ name, description }: Skill, most: number): string {
  const words = description.replaceAll(/\s+/g, ' ');
  if (most < 8) return `- ${name}`;
  return `- ${name}: ${words.length > most ? `${words.slice(0, most - 1)}…` : words}`;
}
