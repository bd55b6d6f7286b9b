// Reports of evaluations: Markdown, JUnit XML, HTML and JSON.
export { formatHtmlReport, type HtmlReportParts } from './html.ts';
export { formatJunitReport } from './junit.ts';
export { formatMarkdownReport } from './markdown.ts';
export { isReportFile, writeEvalReport } from './write-report.ts';
