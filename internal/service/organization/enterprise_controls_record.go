package organization

import (
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// settingsInState ends the description of all settings as JSON.
const settingsInState = "The settings can change with the version of the service. They may contain secrets, such as keys of custom models, which are then stored in the state."

const (
	levels       = "One of `off`, `low`, `medium`, or `high`."
	callLevels   = "One of `low`, `medium`, or `high`."
	allModelIDs  = "IDs of models that are "
	effortOf     = "Reasoning effort of "
	modelFor     = "ID of the model for "
	effortPhrase = effortOf + "the model for "
)

type (
	settings     = *organization.ControlSettings
	settingField = results.Field[settings]
	settingTable = results.Fields[settings]
)

// controlSettings has the settings that cannot contain secrets and whose format is documented.
var controlSettings = settingTable{
	"session_default_settings": objectSetting("sessionDefaultSettings", "Default settings of new sessions.", settingTable{
		"model":                      textSetting("model", "ID of the model."),
		"reasoning_effort":           textSetting("reasoningEffort", "Reasoning effort."),
		"interaction_mode":           textSetting("interactionMode", "Interaction mode. One of `auto`, `spec`, `agi`, or `mission`."),
		"autonomy_level":             textSetting("autonomyLevel", "Autonomy level. "+levels),
		"autonomy_mode":              textSetting("autonomyMode", "Autonomy mode. Deprecated by the service."),
		"spec_mode_model":            textSetting("specModeModel", modelFor+"spec mode."),
		"spec_mode_reasoning_effort": textSetting("specModeReasoningEffort", "Reasoning effort in spec mode."),
	}),
	"mission_orchestrator_model":            textSetting("missionOrchestratorModel", modelFor+"the orchestrator of missions."),
	"mission_orchestrator_reasoning_effort": textSetting("missionOrchestratorReasoningEffort", effortOf+"the orchestrator of missions."),
	"mission_model_settings": objectSetting("missionModelSettings", "Models that missions use.", settingTable{
		"worker_model":                       textSetting("workerModel", modelFor+"workers."),
		"worker_reasoning_effort":            textSetting("workerReasoningEffort", effortOf+"workers."),
		"validation_worker_model":            textSetting("validationWorkerModel", modelFor+"validation workers."),
		"validation_worker_reasoning_effort": textSetting("validationWorkerReasoningEffort", effortOf+"validation workers."),
	}),
	"max_autonomy_level":      textSetting("maxAutonomyLevel", "Highest autonomy level that is allowed. "+levels),
	"subagent_autonomy_level": textSetting("subagentAutonomyLevel", "Autonomy level of subagents. One of `off`, `low`, `medium`, `high`, or `inherit`."),
	"subagent_model_settings": objectSetting("subagentModelSettings", "Models that subagents use.", settingTable{
		"light_model":             textSetting("lightModel", modelFor+"light tasks."),
		"light_reasoning_effort":  textSetting("lightReasoningEffort", effortPhrase+"light tasks."),
		"medium_model":            textSetting("mediumModel", modelFor+"medium tasks."),
		"medium_reasoning_effort": textSetting("mediumReasoningEffort", effortPhrase+"medium tasks."),
		"heavy_model":             textSetting("heavyModel", modelFor+"heavy tasks."),
		"heavy_reasoning_effort":  textSetting("heavyReasoningEffort", effortPhrase+"heavy tasks."),
	}),
	"mcp_autonomy_overrides": results.Map("Autonomy levels of MCP servers, by server.", settingTable{
		"default_level": textSetting("defaultLevel", "Level of the tools that `tools` does not contain. "+callLevels),
		"tools":         textMapSetting("tools", "Levels of single tools, by tool. "+callLevels),
	}, settingMap("mcpAutonomyOverrides")),
	"mcp_autonomy_url_overrides": results.List("Autonomy levels of MCP servers, by URL.", settingTable{
		"url_pattern":   textSetting("urlPattern", "Pattern of the servers' URLs."),
		"default_level": textSetting("defaultLevel", "Level of the servers' tools. "+callLevels),
	}, settingList("mcpAutonomyUrlOverrides")),
	"built_in_tool_autonomy_overrides": textMapSetting("builtInToolAutonomyOverrides", "Autonomy levels of built-in tools, by tool. "+callLevels),

	"cloud_session_sync":              flagSetting("cloudSessionSync", "Whether sessions are synced to the cloud."),
	"voice_dictation_enabled":         flagSetting("voiceDictationEnabled", "Whether voice dictation is enabled."),
	"routed_model_visibility_enabled": flagSetting("routedModelVisibilityEnabled", "Whether members see the model that the router selected."),
	"image_generation_enabled":        flagSetting("imageGenerationEnabled", "Whether image generation is enabled."),
	"web_search_disabled":             flagSetting("webSearchDisabled", "Whether web search is disabled."),
	"wiki_cloud_sync":                 flagSetting("wikiCloudSync", "Whether wikis are synced to the cloud."),
	"advanced_analytics_enabled":      flagSetting("advancedAnalyticsEnabled", "Whether advanced analytics are enabled."),
	"include_co_authored_by_agent":    flagSetting("includeCoAuthoredByAgent", "Whether commits name the agent as a co-author."),
	"enable_agent_shield":             flagSetting("enableAgentShield", "Whether the agent shield is enabled."),
	"enable_one_hour_prompt_caching":  flagSetting("enableOneHourPromptCaching", "Whether prompts are cached for one hour."),
	"agent_shield20_opt_in":           flagSetting("agentShield20OptIn", "Whether the organization opted in to version 2.0 of the agent shield."),
	"ide_auto_connect":                flagSetting("ideAutoConnect", "Whether the agent connects to an IDE automatically."),
	"hooks_disabled":                  flagSetting("hooksDisabled", "Whether hooks are disabled."),
	"show_hook_output":                flagSetting("showHookOutput", "Whether the output of hooks is shown."),
	"allow_managed_hooks_only":        flagSetting("allowManagedHooksOnly", "Whether only the organization's hooks may run."),
	"strict_enabled_plugins":          flagSetting("strictEnabledPlugins", "Whether only the organization's enabled plugins are allowed."),
	"disable_auto_update":             flagSetting("disableAutoUpdate", "Whether automatic updates are disabled."),
	"disable_weekly_usage_summary":    flagSetting("disableWeeklyUsageSummary", "Whether the weekly usage summary is disabled."),
	"output_style":                    textSetting("outputStyle", "Style of the agent's output."),
	"command_allowlist":               textsSetting("commandAllowlist", "Commands that are allowed."),
	"command_denylist":                textsSetting("commandDenylist", "Commands that are denied."),
	"command_blocklist":               textsSetting("commandBlocklist", "Commands that are blocked."),

	"model_policy": objectSetting("modelPolicy", "Policy for models.", settingTable{
		"allowed_model_ids":                 textsSetting("allowedModelIds", allModelIDs+"allowed."),
		"blocked_model_ids":                 textsSetting("blockedModelIds", allModelIDs+"blocked."),
		"allow_custom_models":               flagSetting("allowCustomModels", "Whether custom models are allowed."),
		"allowed_base_urls":                 textsSetting("allowedBaseUrls", "Base URLs that custom models may use."),
		"allow_all_service_models":          flagSetting("allowAllServiceModels", "Whether all models of the service are allowed."),
		"is_fast_models_allowed":            flagSetting("isFastModelsAllowed", "Whether fast models are allowed."),
		"require_explicit_opt_in_model_ids": textsSetting("requireExplicitOptInModelIds", allModelIDs+"available only after an explicit opt-in."),
		"allow_router_byok":                 flagSetting("allowRouterByok", "Whether the router may use models with the organization's own keys."),
		"router_byok_only":                  flagSetting("routerByokOnly", "Whether the router uses only models with the organization's own keys."),
	}),
	"mcp_policy": objectSetting("mcpPolicy", "Policy for MCP servers.", settingTable{
		"enabled":   flagSetting("enabled", "Whether the policy is enabled."),
		"allowlist": textsSetting("allowlist", "MCP servers that are allowed."),
	}),
	"mission_policy": objectSetting("missionPolicy", "Policy for missions.", settingTable{
		"restricted_access": flagSetting("restrictedAccess", "Whether only some members may use missions."),
		"allowed_user_ids":  textsSetting("allowedUserIds", "User IDs of the members who may use missions."),
	}),
	"user_model_policies": results.Map("Model policies of single members, by user.", settingTable{
		"allowed_model_ids": textsSetting("allowedModelIds", allModelIDs+"allowed."),
		"blocked_model_ids": textsSetting("blockedModelIds", allModelIDs+"blocked."),
	}, settingMap("userModelPolicies")),
	"disabled_skills": textsSetting("disabledSkills", "Skills that are disabled."),
	"extra_known_marketplaces": results.Map("Additional plugin marketplaces, by name.", settingTable{
		"source": objectSetting("source", "Where the marketplace is.", marketplaceSource),
	}, settingMap("extraKnownMarketplaces")),
	"strict_known_marketplaces": results.List("The only plugin marketplaces that are allowed.", marketplaceSource, settingList("strictKnownMarketplaces")),
	"network_policy": objectSetting("networkPolicy", "Policy for network access.", settingTable{
		"allowed_ips": textsSetting("allowedIps", "IP addresses and ranges that are allowed."),
	}),
	"sandbox": objectSetting("sandbox", "Sandbox in which commands run.", settingTable{
		"enabled": flagSetting("enabled", "Whether the sandbox is enabled."),
		"mode":    textSetting("mode", "What runs in a sandbox. One of `per-command` or `whole-process`."),
		"filesystem": objectSetting("filesystem", "Access to files.", settingTable{
			"allow_write": textsSetting("allowWrite", "Paths that can be written."),
			"allow_read":  textsSetting("allowRead", "Paths that can be read."),
			"deny_write":  textsSetting("denyWrite", "Paths that cannot be written."),
			"deny_read":   textsSetting("denyRead", "Paths that cannot be read."),
		}),
		"network": objectSetting("network", "Access to the network.", settingTable{
			"allowed_domains":        textsSetting("allowedDomains", "Domains that are allowed."),
			"allow_unix_sockets":     textsSetting("allowUnixSockets", "Unix sockets that are allowed."),
			"allow_all_unix_sockets": flagSetting("allowAllUnixSockets", "Whether all Unix sockets are allowed."),
			"allow_local_binding":    flagSetting("allowLocalBinding", "Whether commands may listen on local ports."),
			"http_proxy_port":        numberSetting("httpProxyPort", "Port of the HTTP proxy."),
			"socks_proxy_port":       numberSetting("socksProxyPort", "Port of the SOCKS proxy."),
		}),
	}),

	"restrict_member_visibility":            flagSetting("restrictMemberVisibility", "Whether the visibility of members is restricted."),
	"restrict_api_key_creation_to_managers": flagSetting("restrictApiKeyCreationToManagers", "Whether only managers may create API keys."),
	"local_computers_enabled":               flagSetting("localComputersEnabled", "Whether local computers are enabled."),
	"managed_computers_enabled":             flagSetting("managedComputersEnabled", "Whether managed computers are enabled."),
	"byom_computers_enabled":                flagSetting("byomComputersEnabled", "Whether registered machines (`byom`) are enabled."),
	"managed_computers_allowed_emails":      textsSetting("managedComputersAllowedEmails", "Email addresses of the members who may use managed computers."),
	"byom_computers_allowed_emails":         textsSetting("byomComputersAllowedEmails", "Email addresses of the members who may use registered machines."),
	"persona_settings": objectSetting("personaSettings", "Settings for personas.", settingTable{
		"enabled_roles": textsSetting("enabledRoles", "Roles that are enabled, such as `engineering`."),
	}),
	"persona_connectors":     textMapSetting("personaConnectors", "Connectors of personas, by persona."),
	"session_retention_days": integerSetting("sessionRetentionDays", "Number of days that sessions are kept."),
	"router_guidance":        textSetting("routerGuidance", "Guidance for the model router."),
	"router_rules": results.List("Rules for the model router.", settingTable{
		"when":     textSetting("when", "When the rule applies."),
		"guidance": textSetting("guidance", "Guidance for the router."),
	}, settingList("routerRules")),
	"telemetry": objectSetting("telemetry", "Export of telemetry.", settingTable{
		"enabled":                   flagSetting("enabled", "Whether telemetry is exported."),
		"log_message_content":       flagSetting("logMessageContent", "Whether the content of messages is exported."),
		"granularity":               textSetting("granularity", "Granularity of the telemetry. One of `user` or `aggregate`."),
		"format":                    textSetting("format", "Format of the telemetry. One of `legacy` or `genai`."),
		"endpoint":                  urlSetting("endpoint", "URL to which telemetry is sent."),
		"metric_export_interval_ms": integerSetting("metricExportIntervalMs", "Interval between exports of metrics, in milliseconds."),
	}),
}

var marketplaceSource = settingTable{
	"source": textSetting("source", "Type of the source. One of `github`, `url`, `local`, or `git-subdir`."),
	"repo":   textSetting("repo", "Repository of a `github` source."),
	"url":    urlSetting("url", "URL of a `url` or `git-subdir` source."),
	"path":   textSetting("path", "Path of a `local` or `git-subdir` source."),
	"ref":    textSetting("ref", "Branch or tag."),
	"sha":    textSetting("sha", "Commit hash."),
}

func textSetting(name, text string) settingField {
	return results.StringPointer(text, func(s settings) *string { return organization.Setting[*string](s, name) })
}

// urlSetting returns the field of a URL that can contain a password.
func urlSetting(name, text string) settingField {
	field := textSetting(name, text)
	field.Sensitive = true
	return field
}

func flagSetting(name, text string) settingField {
	return results.Bool(text, func(s settings) *bool { return organization.Setting[*bool](s, name) })
}

func integerSetting(name, text string) settingField {
	return results.Int64(text, func(s settings) *int64 { return organization.Setting[*int64](s, name) })
}

func numberSetting(name, text string) settingField {
	return results.Float64(text, func(s settings) *float64 { return organization.Setting[*float64](s, name) })
}

func textsSetting(name, text string) settingField {
	return results.StringList(text, func(s settings) []string { return organization.Setting[[]string](s, name) })
}

func textMapSetting(name, text string) settingField {
	return results.StringMap(text, func(s settings) map[string]string { return organization.Setting[map[string]string](s, name) })
}

func objectSetting(name, text string, of settingTable) settingField {
	return results.Object(text, of, func(s settings) settings { return organization.Setting[settings](s, name) })
}

func settingList(name string) func(settings) []organization.ControlSettings {
	return func(s settings) []organization.ControlSettings {
		return organization.Setting[[]organization.ControlSettings](s, name)
	}
}

func settingMap(name string) func(settings) map[string]organization.ControlSettings {
	return func(s settings) map[string]organization.ControlSettings {
		return organization.Setting[map[string]organization.ControlSettings](s, name)
	}
}
