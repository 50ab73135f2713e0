package crud

// The second paragraph of an object's description says what it requires of the API key. On a page, it precedes the example.
const (
	Requires     = "\n\n**Requires:** "
	ManagerRole  = "[Manager role](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/teams-and-keys#which-key-for-what)"
	ManagersOnly = Requires + "the " + ManagerRole + "."
	AnyKey       = Requires + "any API key (assumption [`any-key`](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/evidence))."
)

// Concepts is a paragraph in the description of each object whose relation to others is not plain.
const Concepts = "\n\n**Concepts.** [What the objects are](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/getting-started#what-the-objects-are) shows how computers, environments, and sessions belong together."

// WeakEvidence is a paragraph in the description of each object whose operations the contract marks with x-beyond.
const WeakEvidence = "\n\n~> **Undocumented operations.** The service's API documents do not describe the operations used here, so the service may behave differently. See [Evidence](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/evidence)."

// AssumedFormat is a paragraph in the description of each object whose records or requests the documents do not show in full.
const AssumedFormat = "\n\n-> **Assumed format.** The service's API documents do not show this data in full, so parts of its format are assumptions. See [Evidence](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/evidence)."

// Assumed returns the end of a sentence that rests on an assumption of the contract.
func Assumed(id string) string {
	return " (assumption [`" + id + "`](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/evidence))."
}

// ManagersAssumed is ManagersOnly where only an assumption of the contract says so.
func ManagersAssumed(id string) string { return Requires + "the " + ManagerRole + Assumed(id) }

// WholeRecord describes the attribute raw_json of such a record in a data source.
const WholeRecord = "The service's record, as normalized JSON. It also contains fields without an attribute."
