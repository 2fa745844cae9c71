package config

import (
	"fmt"

	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/domain/admission"
)

// secretVariables name the keys that may stand in the environment. The file of
// each can be named there too, by the setting's own variable.
const (
	searchKeyVariable     = "PLEXUS_SEARCH_API_KEY"
	modelKeyVariable      = "PLEXUS_MODEL_API_KEY"
	recognizerKeyVariable = "PLEXUS_RECOGNIZER_API_KEY"
)

// ReadSecrets reads the keys, from the environment or from the files that the settings
// name. Warnings are about who may read a file.
func ReadSecrets(env cli.Env, c *Config) (warnings []string, problems []error) {
	for _, one := range []struct {
		variable, key, file string
		secret              *admission.Secret
	}{
		{searchKeyVariable, "search.api_key_file", c.Search.KeyFile, &c.Search.Key},
		{modelKeyVariable, "model.api_key_file", c.Model.KeyFile, &c.Model.Key},
		{recognizerKeyVariable, "recognizer.api_key_file", c.Recognizer.KeyFile, &c.Recognizer.Key},
	} {
		value := env.Getenv(one.variable)
		switch {
		case value != "" && one.file != "":
			problems = append(problems, fmt.Errorf("%s is set, and a file with the key too: leave one of them out", one.variable))
		case value != "":
			if err := hostfiles.CheckSecret(value); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", one.variable, err))
			}
			*one.secret = admission.NewSecret(value)
		case one.file != "":
			secret, said, err := hostfiles.ReadSecret(one.file)
			warnings = append(warnings, said...)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", one.key, err))
			}
			*one.secret = secret
		}
	}
	return warnings, problems
}
