package agentyard

settings := {
	"production": false,
	"max_key_days": 90,
	"max_limit": 100000000,
	"allow_destroy": [], # Addresses, such as "agentyard_computer.old".
}
