// Declarations of the tools of MCP servers for work with others: source code hosting, chat, mail, documents, issues and calendars.
import type { ServerDeclarations } from '../types.ts';

/** Servers of services on which others write too. */
export const workServers: readonly ServerDeclarations[] = [
  {
    name: 'github',
    packages: ['@modelcontextprotocol/server-github'],
    tools: `
create_or_update_file external upload owner:id repo:id path:path content:body message:body branch:id sha:id
search_repositories read - query:query page:flag perPage:flag
create_repository external create name:title description:body private:flag autoInit:flag
get_file_contents read* - owner:id repo:id path:path branch:id
push_files external upload owner:id repo:id branch:id files:body message:body
create_issue external create owner:id repo:id title:title body:body assignees:recipient milestone:flag labels:flag
create_pull_request external create owner:id repo:id title:title body:body head:id base:id draft:flag maintainer_can_modify:flag
fork_repository external create owner:id repo:id organization:id
create_branch external create owner:id repo:id branch:id from_branch:id
list_commits read* - owner:id repo:id sha:id page:flag perPage:flag
list_issues read* - owner:id repo:id direction:flag labels:query page:flag per_page:flag since:time sort:flag state:flag
update_issue external change owner:id repo:id issue_number:id title:title body:body assignees:recipient milestone:flag labels:flag state:flag
add_issue_comment external message owner:id repo:id issue_number:id body:body
search_code read* - q:query order:flag page:flag per_page:flag
search_issues read* - q:query order:flag page:flag per_page:flag sort:flag
search_users read - q:query order:flag page:flag per_page:flag sort:flag
get_issue read* - owner:id repo:id issue_number:id
get_pull_request read* - owner:id repo:id pull_number:id
list_pull_requests read* - owner:id repo:id state:flag head:query base:query sort:flag direction:flag per_page:flag page:flag
create_pull_request_review external message owner:id repo:id pull_number:id commit_id:id body:body event:flag comments:body
merge_pull_request external! change owner:id repo:id pull_number:id commit_title:body commit_message:body merge_method:flag
get_pull_request_files read* - owner:id repo:id pull_number:id
get_pull_request_status read* - owner:id repo:id pull_number:id
update_pull_request_branch external change owner:id repo:id pull_number:id expected_head_sha:id
get_pull_request_comments read* - owner:id repo:id pull_number:id
get_pull_request_reviews read* - owner:id repo:id pull_number:id`,
  },
  {
    name: 'slack',
    packages: ['@modelcontextprotocol/server-slack'],
    tools: `
slack_list_channels read* - limit:flag cursor:flag
slack_post_message external message channel_id:recipient text:body
slack_reply_to_thread external message channel_id:recipient thread_ts:id text:body
slack_add_reaction external message channel_id:recipient timestamp:id reaction:flag
slack_get_channel_history read* - channel_id:id limit:flag
slack_get_thread_replies read* - channel_id:id thread_ts:id
slack_get_users read* - cursor:flag limit:flag
slack_get_user_profile read* - user_id:id`,
  },
  {
    name: 'gmail',
    packages: ['@gongrzhe/server-gmail-autoauth-mcp'],
    tools: `
send_email external message to:recipient subject:body body:body htmlBody:body mimeType:flag cc:recipient bcc:recipient threadId:id inReplyTo:id attachments:path
draft_email external message to:recipient subject:body body:body htmlBody:body mimeType:flag cc:recipient bcc:recipient threadId:id inReplyTo:id attachments:path
read_email read* - messageId:id
search_emails read* - query:query maxResults:flag
modify_email external change messageId:id labelIds:id addLabelIds:id removeLabelIds:id
delete_email external! delete messageId:id
list_email_labels read* -
batch_modify_emails external change messageIds:id addLabelIds:id removeLabelIds:id batchSize:flag
batch_delete_emails external! delete messageIds:id batchSize:flag
create_label external create name:title messageListVisibility:flag labelListVisibility:flag
update_label external change id:id name:title messageListVisibility:flag labelListVisibility:flag
delete_label external! delete id:id
get_or_create_label external create name:title messageListVisibility:flag labelListVisibility:flag
create_filter external! create criteria:query action:recipient
list_filters read* -
get_filter read* - filterId:id
delete_filter external! delete filterId:id
create_filter_from_template external! create template:flag parameters:recipient
download_attachment external - messageId:id attachmentId:id filename:path savePath:path`,
  },
  {
    name: 'notion',
    packages: ['@notionhq/notion-mcp-server'],
    tools: `
API-get-user read* - user_id:id
API-get-users read* - start_cursor:flag page_size:flag
API-get-self read* -
API-post-search read* - query:query sort:flag filter:query start_cursor:flag page_size:flag
API-get-block-children read* - block_id:id start_cursor:flag page_size:flag
API-patch-block-children external change block_id:id children:body after:id
API-retrieve-a-block read* - block_id:id
API-update-a-block external change block_id:id type:body archived:flag
API-delete-a-block external! delete block_id:id
API-retrieve-a-page read* - page_id:id filter_properties:query
API-patch-page external change page_id:id properties:body in_trash:flag archived:flag icon:body cover:body
API-post-page external create parent:id properties:body children:body icon:body cover:body
API-retrieve-a-page-property read* - page_id:id property_id:id page_size:flag start_cursor:flag
API-retrieve-a-comment read* - block_id:id start_cursor:flag page_size:flag
API-create-a-comment external message parent:id rich_text:body
API-query-data-source read* - data_source_id:id filter_properties:query filter:query sorts:flag start_cursor:flag page_size:flag archived:flag in_trash:flag
API-retrieve-a-data-source read* - data_source_id:id
API-update-a-data-source external change data_source_id:id title:title description:body properties:body
API-create-a-data-source external create parent:id properties:body title:title
API-list-data-source-templates read* - data_source_id:id start_cursor:flag page_size:flag
API-retrieve-a-database read* - database_id:id
API-move-page external change page_id:id parent:id
API-retrieve-page-markdown read* - page_id:id include_transcript:flag
API-update-page-markdown external! change page_id:id type:flag replace_content:body update_content:body insert_content:body replace_content_range:body`,
  },
  {
    name: 'linear',
    packages: ['linear-mcp-server'],
    tools: `
linear_create_issue external create title:title teamId:id description:body priority:flag status:flag
linear_update_issue external change id:id title:title description:body priority:flag status:flag
linear_search_issues read* - query:query teamId:id status:query assigneeId:id labels:query priority:flag estimate:flag includeArchived:flag limit:flag
linear_get_user_issues read* - userId:id includeArchived:flag limit:flag
linear_add_comment external message issueId:id body:body createAsUser:title displayIconUrl:url`,
  },
  {
    name: 'sentry',
    packages: ['@sentry/mcp-server'],
    tools: `
whoami read* -
find_organizations read* - query:query
find_teams read* - organizationSlug:id regionUrl:url query:query
find_projects read* - organizationSlug:id regionUrl:url query:query
find_releases read* - organizationSlug:id regionUrl:url projectSlug:id query:query
get_issue_tag_values read* - organizationSlug:id regionUrl:url issueId:id issueUrl:url tagKey:query
get_replay_details read* - replayUrl:url organizationSlug:id replayId:id regionUrl:url
get_event_attachment read* - organizationSlug:id projectSlug:id eventId:id attachmentId:id regionUrl:url
update_issue external change organizationSlug:id regionUrl:url issueId:id issueUrl:url status:flag assignedTo:recipient ignoreMode:flag ignoreDurationMinutes:flag ignoreCount:flag ignoreWindowMinutes:flag ignoreUserCount:flag ignoreUserWindowMinutes:flag reason:body
search_events read* - organizationSlug:id dataset:flag query:query fields:query sort:flag projectSlug:id environment:query statsPeriod:time regionUrl:url limit:flag includeExplanation:flag
create_team external create organizationSlug:id regionUrl:url name:title
create_project external create organizationSlug:id regionUrl:url teamSlug:id name:title platform:flag repository:id
update_project external change organizationSlug:id regionUrl:url projectSlug:id name:title slug:title platform:flag teamSlug:id
create_dsn external create organizationSlug:id regionUrl:url projectSlug:id name:title
find_dsns read* - organizationSlug:id regionUrl:url projectSlug:id
analyze_issue_with_seer external run organizationSlug:id regionUrl:url issueId:id issueUrl:url instruction:body
search_docs read - query:query maxResults:flag guide:flag
get_doc read - path:query
search_issues read* - organizationSlug:id query:query sort:flag projectSlugOrId:id regionUrl:url limit:flag includeExplanation:flag
search_issue_events read* - organizationSlug:id issueId:id issueUrl:url query:query sort:flag statsPeriod:time projectSlug:id regionUrl:url limit:flag includeExplanation:flag
get_profile_details read* - profileUrl:url organizationSlug:id regionUrl:url projectSlugOrId:id profileId:id profilerId:id start:time end:time focusOnUserCode:flag
get_sentry_resource read* - url:url resourceType:flag resourceId:id organizationSlug:id`,
  },
  {
    name: 'google-calendar',
    packages: ['@cocal/google-calendar-mcp'],
    tools: `
list-calendars read* - account:id
list-events read* - account:id calendarId:id timeMin:time timeMax:time timeZone:time fields:query privateExtendedProperty:query sharedExtendedProperty:query
search-events read* - account:id calendarId:id query:query timeMin:time timeMax:time timeZone:time fields:query privateExtendedProperty:query sharedExtendedProperty:query
get-event read* - account:id calendarId:id eventId:id fields:query
list-colors read - account:id > trusted
create-event external create account:id calendarId:id eventId:title summary:title description:body start:time end:time timeZone:time location:body attendees:recipient colorId:flag reminders:flag recurrence:time transparency:flag visibility:flag guestsCanInviteOthers:flag guestsCanModify:flag guestsCanSeeOtherGuests:flag anyoneCanAddSelf:flag sendUpdates:flag conferenceData:body extendedProperties:body attachments:url source:url calendarsToCheck:id duplicateSimilarityThreshold:flag allowDuplicates:flag eventType:flag focusTimeProperties:body outOfOfficeProperties:body workingLocationProperties:body
create-events external create account:id calendarId:id timeZone:time sendUpdates:flag events:recipient
update-event external change account:id calendarId:id eventId:id summary:title description:body start:time end:time timeZone:time location:body attendees:recipient colorId:flag reminders:flag recurrence:time sendUpdates:flag modificationScope:flag originalStartTime:time futureStartDate:time checkConflicts:flag calendarsToCheck:id conferenceData:body transparency:flag visibility:flag guestsCanInviteOthers:flag guestsCanModify:flag guestsCanSeeOtherGuests:flag anyoneCanAddSelf:flag extendedProperties:body attachments:url
delete-event external! delete account:id calendarId:id eventId:id sendUpdates:flag
get-freebusy read* - account:id calendars:recipient timeMin:time timeMax:time timeZone:time groupExpansionMax:flag calendarExpansionMax:flag
get-current-time read - account:id timeZone:time > trusted
respond-to-event external message calendarId:id eventId:id account:id response:flag comment:body modificationScope:flag originalStartTime:time sendUpdates:flag
manage-accounts external! login action:flag account_id:id`,
  },
  {
    name: 'jira',
    packages: ['@aashari/mcp-server-atlassian-jira'],
    tools: `
jira_get read* - path:query queryParams:query jq:query outputFormat:flag
jira_post external create path:id queryParams:query jq:query outputFormat:flag body:recipient
jira_put external! change path:id queryParams:query jq:query outputFormat:flag body:recipient
jira_patch external change path:id queryParams:query jq:query outputFormat:flag body:recipient
jira_delete external! delete path:id queryParams:query jq:query outputFormat:flag`,
  },
];
