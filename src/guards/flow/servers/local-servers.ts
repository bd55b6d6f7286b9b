// Declarations of the tools of MCP servers for files, databases, repositories, browsers, the web, and helpers.
import type { ServerDeclarations } from '../types.ts';

/** Servers that work on this machine, or read the web. */
export const localServers: readonly ServerDeclarations[] = [
  {
    name: 'filesystem',
    packages: ['@modelcontextprotocol/server-filesystem', 'mcp-server-filesystem'],
    tools: `
read_file read* - path:path tail:flag head:flag
read_text_file read* - path:path tail:flag head:flag
read_media_file read* - path:path
read_multiple_files read* - paths:path
write_file write file-write path:path content:body > trusted
edit_file write file-write path:path edits:body dryRun:flag
create_directory write file-write path:path > trusted
list_directory read* - path:path
list_directory_with_sizes read* - path:path sortBy:flag
directory_tree read* - path:path excludePatterns:query
move_file write file-write source:path destination:path > trusted
search_files read* - path:path pattern:query excludePatterns:query
get_file_info read* - path:path
list_allowed_directories read - > trusted`,
  },
  {
    name: 'memory',
    packages: ['@modelcontextprotocol/server-memory', 'mcp-server-memory'],
    tools: `
create_entities write create entities:body
create_relations write create relations:body
add_observations write create observations:body
delete_entities write! delete entityNames:id
delete_observations write! delete deletions:id
delete_relations write! delete relations:id
read_graph read* -
search_nodes read* - query:query
open_nodes read* - names:query`,
  },
  {
    name: 'everything',
    packages: ['@modelcontextprotocol/server-everything', 'mcp-server-everything'],
    tools: `
echo read - message:body
get-annotated-message read - messageType:flag includeImage:flag
get-env read* -
get-resource-links read - count:flag
get-resource-reference read - resourceType:flag resourceId:id
get-structured-content read - location:flag
get-sum read - a:flag b:flag
get-tiny-image read -
gzip-file-as-resource external - name:title data:url outputType:flag
toggle-simulated-logging write -
toggle-subscriber-updates write -
trigger-long-running-operation read - duration:flag steps:flag
simulate-research-query write - topic:query ambiguous:flag`,
  },
  {
    name: 'postgres',
    packages: ['@modelcontextprotocol/server-postgres', 'mcp-server-postgres'],
    tools: `
query read* - sql:query`,
  },
  {
    name: 'git',
    packages: ['@cyanheads/git-mcp-server'],
    tools: `
git_add write commit path:path paths:path update:flag all:flag force:flag
git_blame read* - path:path filePath:path startLine:flag endLine:flag ignoreWhitespace:flag
git_branch write commit path:path mode:flag branchName:id newBranchName:title startPoint:id force:flag all:flag remote:flag merged:query noMerged:query limit:flag
git_changelog_analyze read* - path:path reviewTypes:flag maxCommits:flag maxTags:flag sinceTag:id branch:id
git_checkout write commit path:path target:id createBranch:flag force:flag paths:path track:flag
git_cherry_pick write commit path:path commits:id noCommit:flag continueOperation:flag abort:flag mainline:flag strategy:flag signoff:flag
git_clean write! delete path:path force:flag dryRun:flag directories:flag ignored:flag
git_clear_working_dir write - confirm:flag
git_clone external git-remote url:url path:path branch:id depth:flag bare:flag mirror:flag
git_commit write commit path:path message:body author:title amend:flag allowEmpty:flag noVerify:flag filesToStage:path
git_diff read* - path:path target:id source:id paths:path staged:flag includeUntracked:flag nameOnly:flag stat:flag contextLines:flag autoExclude:flag
git_fetch external git-remote path:path remote:url prune:flag tags:flag depth:flag
git_init write create path:path initialBranch:title bare:flag
git_log read* - path:path maxCount:flag skip:flag since:time until:time author:query grep:query branch:id filePath:path oneline:flag stat:flag patch:flag showSignature:flag
git_merge write! commit path:path branch:id strategy:flag noFastForward:flag squash:flag message:body abort:flag
git_pull external git-remote path:path remote:url branch:id rebase:flag fastForwardOnly:flag
git_push external git-remote path:path remote:url branch:id force:flag forceWithLease:flag setUpstream:flag tags:flag dryRun:flag delete:flag remoteBranch:id confirmed:flag
git_rebase write! commit path:path mode:flag upstream:id branch:id interactive:flag onto:id preserve:flag
git_reflog read* - path:path ref:id maxCount:flag
git_remote external git-remote path:path mode:flag name:id url:url newName:title push:flag
git_reset write! delete path:path mode:flag target:id paths:path confirmed:flag
git_set_working_dir write - path:path validateGitRepo:flag initializeIfNotPresent:flag
git_show read* - path:path object:id format:flag stat:flag filePath:path
git_stash write commit path:path mode:flag message:body stashRef:id includeUntracked:flag keepIndex:flag limit:flag
git_status read* - path:path includeUntracked:flag
git_tag write commit path:path mode:flag tagName:title commit:id message:body annotated:flag force:flag limit:flag
git_worktree write commit path:path mode:flag worktreePath:path branch:id commitish:id force:flag newPath:path detach:flag verbose:flag dryRun:flag
git_wrapup_instructions read - acknowledgement:flag createTag:flag`,
  },
  {
    name: 'puppeteer',
    packages: ['@modelcontextprotocol/server-puppeteer', 'mcp-server-puppeteer'],
    tools: `
puppeteer_navigate external visit url:url launchOptions:path allowDangerous:flag
puppeteer_screenshot read* - name:title selector:query width:flag height:flag encoded:flag
puppeteer_click external visit selector:id
puppeteer_fill external visit selector:id value:body
puppeteer_select external visit selector:id value:flag
puppeteer_hover write visit selector:query
puppeteer_evaluate external run script:id`,
  },
  {
    name: 'playwright',
    packages: ['@playwright/mcp'],
    tools: `
browser_close write -
browser_resize write - width:flag height:flag
browser_console_messages read* - level:flag all:flag filename:path
browser_handle_dialog external visit accept:flag promptText:body
browser_emulate_media write - colorScheme:flag reducedMotion:flag forcedColors:flag contrast:flag media:flag
browser_evaluate external run element:query target:id function:id filename:path
browser_file_upload external upload paths:path
browser_drop external upload element:query target:id paths:path data:body
browser_find read* - text:query regex:query filename:path
browser_fill_form external visit fields:body
browser_press_key external visit key:flag
browser_type external visit element:query target:id text:body submit:flag slowly:flag
browser_navigate external visit url:url
browser_navigate_back write visit
browser_network_requests read* - static:flag filter:query filename:path
browser_network_request read* - index:flag part:flag filename:path
browser_run_code_unsafe external! run code:id filename:path
browser_take_screenshot read* - element:query target:query type:flag filename:path fullPage:flag scale:flag
browser_snapshot read* - target:query filename:path depth:flag boxes:flag
browser_click external visit element:query target:id doubleClick:flag button:flag modifiers:flag
browser_drag external visit startElement:query startTarget:id endElement:query endTarget:id
browser_hover write visit element:query target:query
browser_select_option external visit element:query target:id values:flag
browser_tabs external visit action:flag index:flag url:url
browser_wait_for read - time:flag text:query textGone:query`,
  },
  {
    name: 'fetch',
    packages: ['mcp-fetch-server'],
    tools: `
fetch_html write visit url:link headers:body max_length:flag start_index:flag proxy:url
fetch_markdown write visit url:link headers:body max_length:flag start_index:flag proxy:url
fetch_txt write visit url:link headers:body max_length:flag start_index:flag proxy:url
fetch_json write visit url:link headers:body max_length:flag start_index:flag proxy:url
fetch_readable write visit url:link headers:body max_length:flag start_index:flag proxy:url
fetch_youtube_transcript write visit url:link headers:body max_length:flag start_index:flag proxy:url lang:flag`,
  },
  {
    name: 'brave-search',
    packages: ['@modelcontextprotocol/server-brave-search', 'mcp-server-brave-search'],
    tools: `
brave_web_search write visit query:query count:flag offset:flag
brave_local_search write visit query:query count:flag`,
  },
  {
    name: 'google-maps',
    packages: ['@modelcontextprotocol/server-google-maps', 'mcp-server-google-maps'],
    tools: `
maps_geocode read - address:query
maps_reverse_geocode read - latitude:flag longitude:flag
maps_search_places read - query:query location:query radius:flag
maps_place_details read - place_id:id
maps_distance_matrix read - origins:query destinations:query mode:flag
maps_elevation read - locations:query
maps_directions read - origin:query destination:query mode:flag`,
  },
  {
    name: 'sequential-thinking',
    packages: ['@modelcontextprotocol/server-sequential-thinking', 'mcp-server-sequential-thinking'],
    tools: `
sequentialthinking read - thought:body nextThoughtNeeded:flag thoughtNumber:flag totalThoughts:flag isRevision:flag revisesThought:flag branchFromThought:flag branchId:flag needsMoreThoughts:flag`,
  },
  {
    name: 'time',
    packages: ['time-mcp'],
    tools: `
current_time read - format:flag timezone:time > trusted
relative_time read - time:time > trusted
days_in_month read - date:time > trusted
get_timestamp read - time:time > trusted
convert_time read - sourceTimezone:time targetTimezone:time time:time > trusted
get_week_year read - date:time > trusted`,
  },
];
