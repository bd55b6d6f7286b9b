// Markdown drawn: every node is made by us, so nothing in a model's text can become markup, and a link says where it leads.
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Copy } from './copy.tsx';
import { piecesOf } from './hidden.ts';
import type { Inline } from './inline.ts';
import { blocksOf, type Block } from './markdown.ts';
import { sectionsOf } from './sections.ts';

/** A text of a model or a person, drawn as Markdown. */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const sections = useMemo(() => sectionsOf(text), [text]);
  return (
    <div class={sections.length > 8 ? 'prose long' : 'prose'}>
      {sections.map((section, i) => (
        <Section key={i} text={section} />
      ))}
    </div>
  );
}

/** Drawn again only where its text changed. */
function Section({ text }: { readonly text: string }): JSX.Element {
  return useMemo(() => <div class="section">{blocksOf(text).map(block)}</div>, [text]);
}

/** A text in which what does not show is written out and marked. */
export function Visible({ text }: { readonly text: string }): JSX.Element {
  const pieces = useMemo(() => piecesOf(text), [text]);
  return (
    <>
      {pieces.map((piece, i) =>
        piece.name === undefined ? (
          piece.text
        ) : (
          <mark key={i} class="hidden-letter" title={piece.name}>
            {piece.text}
          </mark>
        ),
      )}
    </>
  );
}

function block(each: Block, key: number): ComponentChildren {
  switch (each.type) {
    case 'paragraph':
      return (
        <p key={key} dir="auto">
          {each.inlines.map(inline)}
        </p>
      );
    case 'heading':
      // The page has headings of its own: those of an answer stand below them.
      return (
        <p
          key={key}
          class={`prose-heading level-${each.level}`}
          role="heading"
          dir="auto"
          aria-level={Math.min(6, each.level + 3)}
        >
          {each.inlines.map(inline)}
        </p>
      );
    case 'code':
      return (
        <div key={key} class="copied">
          <pre class="code" dir="ltr" data-language={each.language || undefined} tabIndex={0}>
            <code>
              <Visible text={each.text} />
            </code>
          </pre>
          <Copy text={each.text} what="this code" />
        </div>
      );
    case 'quote':
      return (
        <blockquote key={key} dir="auto">
          {each.blocks.map(block)}
        </blockquote>
      );
    case 'list':
      return each.start === undefined ? (
        <ul key={key} dir="auto">
          {each.items.map(item)}
        </ul>
      ) : (
        <ol key={key} start={each.start} dir="auto">
          {each.items.map(item)}
        </ol>
      );
    case 'table':
      return (
        <div key={key} class="scroll" tabIndex={0} role="region" aria-label="A table of the answer">
          <table>
            <thead>
              <tr>
                {each.head.map((cell, i) => (
                  <th key={i} scope="col" dir="auto">
                    {cell.map(inline)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {each.rows.map((row, i) => (
                <tr key={i}>
                  {row.map((cell, j) => (
                    <td key={j} dir="auto">
                      {cell.map(inline)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case 'rule':
      return <hr key={key} />;
  }
}

/** An item of one paragraph needs no paragraph of its own. */
function item(blocks: readonly Block[], key: number): ComponentChildren {
  return (
    <li key={key}>
      {blocks.map((each, i) =>
        each.type === 'paragraph' ? <span key={i}>{each.inlines.map(inline)}</span> : block(each, i),
      )}
    </li>
  );
}

function inline(each: Inline, key: number): ComponentChildren {
  switch (each.type) {
    case 'text':
      return <Visible key={key} text={each.text} />;
    case 'code':
      return (
        <code key={key}>
          <Visible text={each.text} />
        </code>
      );
    case 'strong':
      return <strong key={key}>{each.inlines.map(inline)}</strong>;
    case 'emphasis':
      return <em key={key}>{each.inlines.map(inline)}</em>;
    case 'struck':
      return <s key={key}>{each.inlines.map(inline)}</s>;
    case 'link':
      return (
        <a key={key} href={each.href} target="_blank" rel="noopener noreferrer nofollow">
          {each.inlines.map(inline)}
          {each.target === undefined ? null : <span class="target"> ({each.target})</span>}
        </a>
      );
    case 'break':
      return <br key={key} />;
  }
}
