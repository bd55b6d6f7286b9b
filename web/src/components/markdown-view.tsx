// Renders Markdown from parsed data, so that the text of a model cannot become HTML; links show their target.
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { CodeText } from './code-view.tsx';
import { CopyButton } from './copy-button.tsx';
import { EscapedText } from './escaped-text.tsx';
import { parseMarkdown, type MarkdownBlock, type MarkdownInline } from '../../../src/core/markdown/index.ts';
import { splitSections } from '../text/sections.ts';

/** Renders a text as Markdown. */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const sections = useMemo(() => splitSections(text), [text]);
  return (
    <div class={sections.length > 8 ? 'prose long' : 'prose'}>
      {sections.map((section, i) => (
        <MarkdownSection key={i} text={section} />
      ))}
    </div>
  );
}

/** A section that renders again only if its text changes. */
function MarkdownSection({ text }: { readonly text: string }): JSX.Element {
  return useMemo(() => <div class="section">{parseMarkdown(text).map(renderBlock)}</div>, [text]);
}

function renderBlock(each: MarkdownBlock, key: number): ComponentChildren {
  switch (each.type) {
    case 'paragraph':
      return (
        <p key={key} dir="auto">
          {each.inlines.map(renderInline)}
        </p>
      );
    case 'heading':
      // Headings of an answer rank below the headings of the page.
      return (
        <p
          key={key}
          class={`prose-heading level-${each.level}`}
          role="heading"
          dir="auto"
          aria-level={Math.min(6, each.level + 3)}
        >
          {each.inlines.map(renderInline)}
        </p>
      );
    case 'code':
      return (
        <div key={key} class="copied">
          <pre class="code" dir="ltr" data-language={each.language || undefined} tabIndex={0}>
            <code>
              <CodeText text={each.text} language={each.language} />
            </code>
          </pre>
          <CopyButton text={each.text} what="this code" />
        </div>
      );
    case 'quote':
      return (
        <blockquote key={key} dir="auto">
          {each.blocks.map(renderBlock)}
        </blockquote>
      );
    case 'list':
      return each.start === undefined ? (
        <ul key={key} dir="auto">
          {each.items.map(renderListItem)}
        </ul>
      ) : (
        <ol key={key} start={each.start} dir="auto">
          {each.items.map(renderListItem)}
        </ol>
      );
    case 'table':
      return (
        <div key={key} class="scroll" tabIndex={0} role="region" aria-label="Table in the answer">
          <table>
            <thead>
              <tr>
                {each.head.map((cell, i) => (
                  <th key={i} scope="col" dir="auto">
                    {cell.map(renderInline)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {each.rows.map((row, i) => (
                <tr key={i}>
                  {row.map((cell, j) => (
                    <td key={j} dir="auto">
                      {cell.map(renderInline)}
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

/** Renders a list item; a single paragraph gets no <p>. */
function renderListItem(blocks: readonly MarkdownBlock[], key: number): ComponentChildren {
  return (
    <li key={key}>
      {blocks.map((each, i) =>
        each.type === 'paragraph' ? <span key={i}>{each.inlines.map(renderInline)}</span> : renderBlock(each, i),
      )}
    </li>
  );
}

function renderInline(each: MarkdownInline, key: number): ComponentChildren {
  switch (each.type) {
    case 'text':
      return <EscapedText key={key} text={each.text} />;
    case 'code':
      return (
        <code key={key}>
          <EscapedText text={each.text} />
        </code>
      );
    case 'strong':
      return <strong key={key}>{each.inlines.map(renderInline)}</strong>;
    case 'emphasis':
      return <em key={key}>{each.inlines.map(renderInline)}</em>;
    case 'struck':
      return <s key={key}>{each.inlines.map(renderInline)}</s>;
    case 'link':
      return (
        <a key={key} href={each.href} target="_blank" rel="noopener noreferrer nofollow">
          {each.inlines.map(renderInline)}
          {each.target === undefined ? null : <span class="target"> ({each.target})</span>}
        </a>
      );
    case 'break':
      return <br key={key} />;
  }
}
