// Package specimens has one value for each Terraform object: how the tests that walk over all objects configure it. It knows no
// server, so that tests against the emulator and tests against a real service share it.
//
// A text such as "$account" is a place, which the server of a test fills in. Alone, it keeps the type of what it stands for, and null
// leaves the argument out:
//
//	$name                         a name that is free, of at most 50 characters
//	$account, $account_name       a service account
//	$key, $leaked                 a live API key of $account; the other one may be revoked
//	$machine, $machine_name       a registered machine
//	$provider, $host, $user       what a registered machine needs; null in the emulator, which needs nothing
//	$managed, $managed_provider   a computer that the service runs, and the provider of such ones
//	$fleet_provider               null: fleets have the service's default; a test against a real service opts in to them
//	$refreshed                    a computer that may be refreshed
//	$measured                     a computer that the service runs, and that is only read; $start is the start of its metrics
//	$computer                     a computer that can run sessions
//	$file                         a file on $managed
//	$environment, $environment_name  an environment
//	$broken, $broken_build        an environment that may have failed, and its build
//	$built, $building             environments whose build has ended, and is running
//	$first, $second               two environments that can be the default
//	$repositories, $scope, $waits what an environment needs; the last two are null in the emulator
//	$session                      a session with messages, which is only read
//	$conversation, $message       a session of the test alone, and a message in it; $conversation_2, $message_2 are others
//	$run, $page, $word            a wiki run, and a page with a word
//	$wiki_repository              the URL of a repository that can have wikis; $documented is one that has
//	$ci_repository                the full name of a repository that can have workflows
//	$email, $member_id            a member
//	$member, $lower, $higher      the address of a member without a usage limit, and two limits
//	$first_day, $last_day         days with analytics
//	$folder                       a folder of the test
package specimens

import (
	"slices"
	"strings"
)

// Values are arguments. An absent one is null.
type Values = map[string]any

// Resource is a resource as every walk creates, changes, imports, and destroys it.
type Resource struct {
	Type string
	// Name tells apart several of a type, such as "of an account". It is empty for the first, which has the import errors.
	Name string
	// Least are the fewest arguments, and Changed updates them in place.
	Least, Changed Values
	// Full sets every argument, and FullChanged changes each that can be changed in place. Without them, the two above do.
	Full, FullChanged Values
	// More are arguments that exclude those of Full, and their changes.
	More map[string][]Values
	// Exists are the arguments of the one that the examples import.
	Exists Values
	// Identity contains the attributes of the identity.
	Identity []string
	// ImportID is the import ID as a pattern of attributes. Empty for "{id}".
	ImportID string
	// NotImported contains the attributes that the service does not return.
	NotImported []string
	// ImportPlansAnUpdate means that the plan after an import by identity sets what could not be imported.
	ImportPlansAnUpdate bool
	// NoImport contains import IDs and the errors that they cause. Empty for what is imported by the ID that the service chose.
	NoImport map[string]string
	// NoIdentity contains the arguments of an invalid identity.
	NoIdentity Values
	// Listing shows the resource while it exists. Zero if a destroy leaves it unchanged.
	Listing Listing
	// Nameless means that nothing else need have another name, so a killed run may leave an object behind that the next one does not see.
	Nameless bool
	// Creates is the operation that creates the resource. Empty if a create is no POST of its own.
	Creates string
	// IfChanged and IfDeleted are what the next plan does after a change or a deletion elsewhere. Empty for "update" and "create";
	// "-" skips the test.
	IfChanged, IfDeleted string
	// NotAtService says why no real service is asked for it.
	NotAtService string
}

// Read is a data source, a list, or an ephemeral resource with its arguments.
type Read struct {
	Type, Name string
	Values     Values
	// Shows is a condition on a data source, the place that a list must contain, or an expression with an attribute of an ephemeral
	// resource. Empty for none.
	Shows string
	// Paged means that the list has pages, and this row, a second one of the type, has several. Only what is true of the paging is varied.
	Paged        bool
	NotAtService string
}

// Operation is an action, and the resource of the same name.
type Operation struct {
	Type, Name string
	Values     Values
	// Again are changes that run it again. Without them, a trigger changes.
	Again Values
	// Equal are changes that run nothing.
	Equal []Values
	// Request is the operation of the contract that runs it.
	Request string
	// Results are values of the resource. "*" is any value.
	Results map[string]string
	// IsNoAction means that there is only a resource, which has no triggers.
	IsNoAction   bool
	NotAtService string
}

// All objects. TestSpecimens_everyObject compares them with the provider.
var (
	Resources  = slices.Concat(accountResources, computerResources, environmentResources, organizationResources, sessionResources, wikiResources)
	Data       = slices.Concat(accountData, analyticsData, ciData, computerData, environmentData, organizationData, sessionData, wikiData)
	Lists      = slices.Concat(accountLists, computerLists, environmentLists, organizationLists, sessionLists, wikiLists)
	Ephemerals = slices.Concat(accountEphemerals, computerEphemerals, wikiEphemerals)
	Operations = slices.Concat(accountOperations, ciOperations, computerOperations, environmentOperations, organizationOperations, sessionOperations)
)

// Title names the resource in a test.
func (r Resource) Title() string { return title(r.Type, r.Name) }

// Title names what is read in a test.
func (r Read) Title() string { return title(r.Type, r.Name) }

// Title names the operation in a test.
func (o Operation) Title() string { return title(o.Type, o.Name) }

func title(typeName, name string) string { return strings.TrimSpace(typeName + " " + name) }

// Address is the address of the resource in its configuration.
func (r Resource) Address() string { return r.Type + ".test" }

// FullOrLeast returns the arguments and their change that set most.
func (r Resource) FullOrLeast() (created, changed Values) {
	if r.Full == nil {
		return r.Least, r.Changed
	}
	return r.Full, r.FullChanged
}

// ResourceOf returns the first specimen of a type. It is empty for an operation.
func ResourceOf(typeName string) (found Resource) {
	for _, r := range slices.Backward(Resources) {
		if r.Type == typeName {
			found = r
		}
	}
	return found
}

// OperationOf returns the first specimen of a type.
func OperationOf(typeName string) Operation {
	return Operations[slices.IndexFunc(Operations, func(o Operation) bool { return o.Type == typeName })]
}
