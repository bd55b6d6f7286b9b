// Tables of the members of exported types and classes, for the library guide: name, type and the sentence of the doc comment.
import type { Program, SourceFile } from '../lint-repo/source-tree.ts';
import { findDeclaration, getDocComment } from './exports.ts';

type Files = ReadonlyMap<string, SourceFile>;
type Statement = Program['body'][number];

/** A member of a type or a class. */
export type Member = {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly isOptional: boolean;
};

/** A node of the syntax tree, as far as the tables read it. */
type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
};

const child = (node: Node, name: string): Node | undefined => node[name] as Node | undefined;
const children = (node: Node | undefined, name: string): readonly Node[] => (node?.[name] ?? []) as readonly Node[];

/** Returns the members of an exported type or class of a module, including those of the types it is made of. */
export function readMembers(files: Files, module: string, name: string): readonly Member[] {
  const { file, statements } = findDeclaration(files, module, name);
  if (!file) throw new Error(`${module} does not export ${name}.`);
  const [statement] = statements;
  const declaration = getDeclared(statement);
  if (declaration?.type === 'ClassDeclaration') return classMembers(file, declaration);
  const annotation = declaration && child(declaration, 'typeAnnotation');
  if (!annotation) throw new Error(`${name} is neither a type nor a class.`);
  return typeMembers(files, file, annotation);
}

const getDeclared = (statement: Statement | undefined): Node | undefined => {
  const node = statement as unknown as Node | undefined;
  return node?.type === 'ExportNamedDeclaration' ? child(node, 'declaration') : node;
};

const typeText = (file: SourceFile, node: Node | undefined): string =>
  node
    ? file.text
        .slice(node.start, node.end)
        .replaceAll(/\s+/g, ' ')
        .replaceAll(/readonly /g, '')
    : '';

function typeMembers(files: Files, file: SourceFile, node: Node): readonly Member[] {
  if (node.type === 'TSParenthesizedType') return typeMembers(files, file, child(node, 'typeAnnotation') ?? node);
  if (node.type === 'TSIntersectionType')
    return children(node, 'types').flatMap((each) => typeMembers(files, file, each));
  if (node.type === 'TSTypeLiteral') return children(node, 'members').flatMap((each) => propertyMember(file, each));
  if (node.type === 'TSTypeReference') return referencedMembers(files, file, node);
  throw new Error(`${file.path}: the members of ${typeText(file, node)} are not known.`);
}

/** The members of a named type. `Omit` and `Pick` select some of them. */
function referencedMembers(files: Files, file: SourceFile, node: Node): readonly Member[] {
  const name = typeText(file, child(node, 'typeName'));
  const [first, second] = children(child(node, 'typeArguments'), 'params');
  if (name === 'Partial' && first)
    return typeMembers(files, file, first).map((member) => ({ ...member, isOptional: true }));
  if ((name === 'Omit' || name === 'Pick') && first && second) {
    const names = new Set([...typeText(file, second).matchAll(/'(\w+)'/g)].map(([, each]) => each));
    return typeMembers(files, file, first).filter((member) => names.has(member.name) === (name === 'Pick'));
  }
  return readMembers(files, file.path, name);
}

function propertyMember(file: SourceFile, node: Node): readonly Member[] {
  const name = typeText(file, child(node, 'key'));
  if (node.type === 'TSMethodSignature')
    return [
      {
        name: `${name}(${parameterNames(file, node)})`,
        type: typeText(file, child(child(node, 'returnType') ?? node, 'typeAnnotation')),
        description: getDocComment(file, node.start) ?? '',
        isOptional: node['optional'] === true,
      },
    ];
  if (node.type !== 'TSPropertySignature' || node['computed'] === true) return [];
  return [
    {
      name,
      type: typeText(file, child(child(node, 'typeAnnotation') ?? node, 'typeAnnotation')),
      description: getDocComment(file, node.start) ?? '',
      isOptional: node['optional'] === true,
    },
  ];
}

const parameterNames = (file: SourceFile, node: Node): string =>
  children(node, 'params')
    .map((each) => {
      const target = each.type === 'AssignmentPattern' ? (child(each, 'left') ?? each) : each;
      const name = target.type === 'Identifier' ? String(target['name']) : 'options';
      return each.type === 'AssignmentPattern' || target['optional'] === true ? `${name}?` : name;
    })
    .join(', ') || typeText(file, undefined);

/** The public methods, accessors and properties of a class. */
function classMembers(file: SourceFile, node: Node): readonly Member[] {
  return children(child(node, 'body'), 'body').flatMap((each): readonly Member[] => {
    const key = child(each, 'key');
    if (key?.type !== 'Identifier' || each['computed'] === true || each['accessibility'] === 'private') return [];
    if (key['name'] === 'constructor') return [];
    const value = child(each, 'value');
    const isMethod = each.type === 'MethodDefinition' && each['kind'] === 'method';
    const prefix = each['static'] === true ? 'static ' : '';
    const annotation =
      isMethod || each['kind'] === 'get' ? child(value ?? each, 'returnType') : child(each, 'typeAnnotation');
    const member: Member = {
      name: `${prefix}${String(key['name'])}${isMethod && value ? `(${parameterNames(file, value)})` : ''}`,
      type: annotation ? typeText(file, child(annotation, 'typeAnnotation')) : '',
      description: getDocComment(file, each.start) ?? '',
      isOptional: false,
    };
    return [member];
  });
}

const cell = (text: string): string =>
  text
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Formats members as a Markdown table. */
export function formatMemberTable(members: readonly Member[]): string {
  const rows = members.map(
    ({ name, type, description, isOptional }) =>
      `| \`${name}${isOptional ? '?' : ''}\` | \`${cell(type)}\` | ${cell(description)} |`,
  );
  return ['| name | type | meaning |', '|---|---|---|', ...rows].join('\n');
}
