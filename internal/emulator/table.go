package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// table is the objects of one kind in the database, each under a key. Keys with several parts are joined by key().
type table[T any] struct {
	name    string
	indexes []index[T] // They follow each change of an object.
}

// index finds the keys of objects by something else.
type index[T any] struct {
	name  string
	entry func(*T) string // What finds an object; empty if the index leaves it out.
}

// anyTable is a table without the type of its objects.
type anyTable interface {
	// open creates what the database lacks.
	open(tx *bolt.Tx) error
	// clear removes all objects.
	clear(tx *bolt.Tx) error
	size(tx *bolt.Tx) int
	bucket(tx *bolt.Tx) *bolt.Bucket
}

func (t *table[T]) bucket(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket([]byte(t.name)) }
func (t *table[T]) size(tx *bolt.Tx) int            { return len(t.keys(tx, "")) }

func (t *table[T]) open(tx *bolt.Tx) error {
	_, err := tx.CreateBucketIfNotExists([]byte(t.name))
	for _, x := range t.indexes {
		_, indexErr := tx.CreateBucketIfNotExists([]byte(x.name))
		err = errors.Join(err, indexErr)
	}
	return err
}

func (t *table[T]) clear(tx *bolt.Tx) error {
	err := tx.DeleteBucket([]byte(t.name))
	for _, x := range t.indexes {
		err = errors.Join(err, tx.DeleteBucket([]byte(x.name)))
	}
	return errors.Join(err, t.open(tx))
}

// edit changes an object without a request of the API, and stores it. It is an error if there is no such object.
func edit[T any](e *Emulator, t *table[T], id, noun string, change func(r *request, object *T) error) error {
	return e.store.db.Update(func(tx *bolt.Tx) error {
		object, err := t.get(tx, id, fmt.Errorf("%s %s does not exist", noun, id))
		if err == nil {
			err = change(&request{e: e, tx: tx, now: e.clock.Now()}, object)
		}
		if err != nil {
			return err
		}
		return t.put(tx, id, *object)
	})
}

// get returns the object under a key. If there is none, it returns missing, which may be nil.
func (t *table[T]) get(tx *bolt.Tx, key string, missing error) (*T, error) {
	data := t.bucket(tx).Get([]byte(key))
	if data == nil {
		return nil, missing
	}
	return t.decode(key, data)
}

func (t *table[T]) decode(key string, data []byte) (*T, error) {
	object := new(T)
	if err := json.Unmarshal(data, object); err != nil {
		return nil, fmt.Errorf("read %s %q from the database: %w", t.name, key, err)
	}
	return object, nil
}

// has reports whether there is an object under a key.
func (t *table[T]) has(tx *bolt.Tx, key string) bool { return t.bucket(tx).Get([]byte(key)) != nil }

// put stores an object under a key.
func (t *table[T]) put(tx *bolt.Tx, key string, object T) error {
	data, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("write %s %q to the database: %w", t.name, key, err)
	}
	errs := []error{t.unindex(tx, key)}
	for _, x := range t.indexes {
		errs = append(errs, x.add(tx, key, &object))
	}
	return errors.Join(append(errs, t.bucket(tx).Put([]byte(key), data))...)
}

// remove deletes the object under a key, if there is one.
func (t *table[T]) remove(tx *bolt.Tx, key string) error {
	return errors.Join(t.unindex(tx, key), t.bucket(tx).Delete([]byte(key)))
}

// unindex removes the object under a key from the indexes.
func (t *table[T]) unindex(tx *bolt.Tx, key string) error {
	if len(t.indexes) == 0 {
		return nil
	}
	object, err := t.get(tx, key, nil)
	if object == nil {
		return err
	}
	for _, x := range t.indexes {
		if entry := x.entry(object); entry != "" {
			err = errors.Join(err, tx.Bucket([]byte(x.name)).Delete([]byte(entry)))
		}
	}
	return err
}

// removeAll deletes all objects whose keys begin with a prefix.
func (t *table[T]) removeAll(tx *bolt.Tx, prefix string) error {
	var errs []error
	for _, key := range t.keys(tx, prefix) {
		errs = append(errs, t.remove(tx, key))
	}
	return errors.Join(errs...)
}

// each calls visit for the objects whose keys begin with a prefix, in the order of the keys.
func (t *table[T]) each(tx *bolt.Tx, prefix string, visit func(key string, object *T) error) error {
	for key, data := range entries(tx, t.name, prefix) {
		object, err := t.decode(key, data)
		if err != nil {
			return err
		}
		if err := visit(key, object); err != nil {
			return err
		}
	}
	return nil
}

// list returns the objects whose keys begin with a prefix, in the order of the keys.
func (t *table[T]) list(tx *bolt.Tx, prefix string) ([]*T, error) {
	var objects []*T
	err := t.each(tx, prefix, func(_ string, object *T) error {
		objects = append(objects, object)
		return nil
	})
	return objects, err
}

// keys returns the keys that begin with a prefix, in order.
func (t *table[T]) keys(tx *bolt.Tx, prefix string) []string {
	var keys []string
	for key := range entries(tx, t.name, prefix) {
		keys = append(keys, key)
	}
	return keys
}

// pick returns the objects under keys that an index gave, in their order.
func (t *table[T]) pick(tx *bolt.Tx, keys []string) ([]*T, error) {
	objects := make([]*T, len(keys))
	for i, key := range keys {
		var err error
		if objects[i], err = t.get(tx, key, fmt.Errorf("%s %q is not in the database", t.name, key)); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func (x index[T]) add(tx *bolt.Tx, key string, object *T) error {
	entry := x.entry(object)
	if entry == "" {
		return nil
	}
	data, err := json.Marshal(key)
	return errors.Join(err, tx.Bucket([]byte(x.name)).Put([]byte(entry), data))
}

// find returns the key of an object, or "" if the index does not have the entry.
func (x index[T]) find(tx *bolt.Tx, entry string) string {
	return indexed(tx.Bucket([]byte(x.name)).Get([]byte(entry)))
}

// keys returns the keys of the objects whose entries begin with a prefix, in the order of the entries.
func (x index[T]) keys(tx *bolt.Tx, prefix string) []string {
	var keys []string
	for _, data := range entries(tx, x.name, prefix) {
		keys = append(keys, indexed(data))
	}
	return keys
}

// indexed is the key that an index has stored.
func indexed(data []byte) (key string) {
	_ = json.Unmarshal(data, &key) // It was written by add, or there is none.
	return key
}

// newest sorts objects, newest first.
func newest[T interface{ birth() born }](objects []T) []T {
	slices.SortStableFunc(objects, func(a, b T) int { return compareNewest(a.birth(), b.birth()) })
	return objects
}

// views returns what the API shows of each object.
func views[T, V any](objects []T, view func(T) V) []V {
	list := make([]V, len(objects))
	for i, object := range objects {
		list[i] = view(object)
	}
	return list
}
