// Skills: directories with a SKILL.md that describes how to do one kind of work. The model sees their names and loads one by name.
import path from 'node:path';
import { wrapUntrusted } from '../../core/index.ts';
import { tryRealPath, type FileProblem } from './paths.ts';
import { parseFrontmatter, textField } from './frontmatter.ts';
import { readDirEntries, boundaryError, getSkillDirs, type ProjectLocation, type ResourceDir } from './search-dirs.ts';
import { readTextFile } from './text-file.ts';

/** A skill that was found; its instructions are read when it is loaded. */
export type Skill = {
  readonly name: string;
  readonly description: string;
  readonly folder: string;
  /** A project's skills are not trusted. */
  readonly scope: 'personal' | 'project';
  /** The directory that links in it must not leave. */
  readonly boundary?: string;
  /** The text of SKILL.md; without it, as with the user's own skills, the file is read when the skill is loaded. */
  readonly text?: string;
};

/** The skills by unique name, and the directories that were skipped. */
export type Skills = { readonly skills: readonly Skill[]; readonly problems: readonly FileProblem[] };

const maxSkills = 200;
const maxSkillBytes = 65_536;
const skillNamePattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Finds the skills for a working directory, also in `dirs`. The user's own take precedence over a project's of the same name, so that a project cannot replace them. */
export async function findSkills(location: ProjectLocation, dirs: readonly string[] = []): Promise<Skills> {
  const problems: FileProblem[] = [];
  const byName = new Map<string, Skill>();
  const seen = new Set<string>();
  const named = dirs.map((folder): ResourceDir => ({ folder, scope: 'personal' }));
  for (const dir of [...named, ...getSkillDirs(location)])
    for (const entry of readDirEntries(dir.folder, problems)) {
      const folder = path.join(dir.folder, entry.name);
      const real = tryRealPath(path.join(folder, 'SKILL.md'));
      if (real === undefined || seen.has(real)) continue;
      seen.add(real);
      const skill = await readSkill(folder, dir);
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

async function readSkill(folder: string, dir: ResourceDir): Promise<Skill | { readonly why: string }> {
  const file = path.join(folder, 'SKILL.md');
  const outside = boundaryError(dir, file);
  if (outside) return outside;
  const read = readTextFile(file, maxSkillBytes);
  if ('wrong' in read) return read;
  const text = read.cut ? `${read.text}\n[cut here: the file is longer than ${maxSkillBytes} bytes]` : read.text;
  const { folder: _, ...origin } = dir;
  return parseSkill(text, { folder, ...origin });
}

/** Parses the text of a SKILL.md in this directory, or returns why it is not a skill. */
export async function parseSkill(
  text: string,
  origin: Pick<Skill, 'folder' | 'scope' | 'boundary'>,
): Promise<Skill | { readonly why: string }> {
  const front = await parseFrontmatter(text);
  if ('why' in front) return front;
  const name = textField(front.fields, 'name');
  const description = textField(front.fields, 'description');
  const why = skillError(name, description, path.basename(origin.folder));
  if (why !== undefined) return { why };
  return {
    ...origin,
    name: name as string,
    description: description as string,
    ...(origin.scope === 'project' ? { text } : {}),
  };
}

function skillError(name: string | undefined, description: string | undefined, folder: string): string | undefined {
  if (name === undefined) return 'has no name in its frontmatter';
  if (name.length > 64 || !skillNamePattern.test(name))
    return `has the name ${JSON.stringify(name.slice(0, 80))}: a name is at most 64 small letters, digits and single hyphens`;
  if (name !== folder) return `is called ${name} but is in a folder called ${folder}: they must be the same`;
  if (description === undefined) return 'has no description in its frontmatter';
  if (description.length > 1024) return `has a description of ${description.length} characters: at most 1024`;
  return undefined;
}

const maxListChars = 6_000;

/** The list of skills for the model: names and descriptions, shortened evenly if there are many; empty without skills. */
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

function skillLine({ name, description }: Skill, maxChars: number): string {
  const text = description.replaceAll(/\s+/g, ' ');
  if (maxChars < 8) return `- ${name}`;
  return `- ${name}: ${text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text}`;
}
