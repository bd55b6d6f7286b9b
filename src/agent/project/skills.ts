// Skills: folders with a SKILL.md that tell how to do one kind of work. The model is told their names; the rest is read when it asks.
import path from 'node:path';
import { outsideText } from '../../core/index.ts';
import { realPath, type Problem } from './folders.ts';
import { readFront, textField } from './frontmatter.ts';
import { entriesIn, leadsOut, shelvesOf, type ProjectPlaces, type Shelf } from './shelves.ts';
import { readText } from './text-file.ts';

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
export type Skills = { readonly skills: readonly Skill[]; readonly problems: readonly Problem[] };

const mostSkills = 200;
const mostFile = 65_536;
const legalName = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Finds the skills for a working folder. A person's own go before a project's of the same name: a project must not stand in for them. */
export async function findSkills(places: ProjectPlaces): Promise<Skills> {
  const problems: Problem[] = [];
  const byName = new Map<string, Skill>();
  const seen = new Set<string>();
  for (const shelf of shelvesOf(places, 'skills', ['.agents', '.claude']))
    for (const entry of entriesIn(shelf.folder, problems)) {
      const folder = path.join(shelf.folder, entry.name);
      const real = realPath(path.join(folder, 'SKILL.md'));
      if (real === undefined || seen.has(real)) continue;
      seen.add(real);
      const skill = await readSkill(folder, shelf);
      const earlier = 'why' in skill ? undefined : byName.get(skill.name);
      if ('why' in skill) problems.push({ path: path.join(folder, 'SKILL.md'), why: skill.why });
      else if (earlier)
        problems.push({ path: folder, why: `is hidden by the skill of the same name in ${earlier.folder}` });
      else if (byName.size >= mostSkills)
        problems.push({ path: folder, why: `was left out: there are more than ${mostSkills} skills` });
      else byName.set(skill.name, skill);
    }
  return { skills: [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

async function readSkill(folder: string, shelf: Shelf): Promise<Skill | { readonly why: string }> {
  const file = path.join(folder, 'SKILL.md');
  const out = leadsOut(shelf, file);
  if (out) return out;
  const read = readText(file, mostFile);
  if ('wrong' in read) return read;
  const front = await readFront(read.text);
  if ('why' in front) return front;
  const name = textField(front.fields, 'name');
  const description = textField(front.fields, 'description');
  const why = fault(name, description, path.basename(folder));
  if (why !== undefined) return { why };
  const { folder: _, ...place } = shelf;
  return { name: name as string, description: description as string, folder, ...place };
}

function fault(name: string | undefined, description: string | undefined, folder: string): string | undefined {
  if (name === undefined) return 'has no name in its frontmatter';
  if (name.length > 64 || !legalName.test(name))
    return `has the name ${JSON.stringify(name.slice(0, 80))}: a name is at most 64 small letters, digits and single hyphens`;
  if (name !== folder) return `is called ${name} but lies in a folder called ${folder}: they must be the same`;
  if (description === undefined) return 'has no description in its frontmatter';
  if (description.length > 1024) return `has a description of ${description.length} characters: at most 1024`;
  return undefined;
}

const mostList = 6_000;

/** What a model is told of the skills: names and descriptions, shortened evenly where they are many; empty without any. */
export function skillsText(skills: readonly Skill[]): string {
  if (skills.length === 0) return '';
  const fits = skills.reduce((sum, each) => sum + lineOf(each, 1024).length + 1, 0) <= mostList;
  const share = fits ? 1024 : Math.max(0, Math.floor(mostList / skills.length) - 24);
  const personal = skills.filter((each) => each.scope === 'personal').map((each) => lineOf(each, share));
  const project = skills.filter((each) => each.scope === 'project').map((each) => lineOf(each, share));
  return [
    'Skills tell how to do one kind of work. Before work that one of these fits, load it with load_skill and follow it.',
    ...personal,
    ...(project.length ? [outsideText('the skills of this project', project.join('\n'))] : []),
  ].join('\n');
}

function lineOf({ name, description }: Skill, most: number): string {
  const words = description.replaceAll(/\s+/g, ' ');
  if (most < 8) return `- ${name}`;
  return `- ${name}: ${words.length > most ? `${words.slice(0, most - 1)}…` : words}`;
}
