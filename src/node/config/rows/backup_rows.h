#pragma once
// The rows of [backup].

#include "config/rows/rows.h"

namespace dormouse::config::rows {

inline constexpr Key backup_rows[] = {
    text<&Backup::to>("to", some_text,
                      "Where the server continuously copies its data directory: the absolute path "
                      "of a directory on another disk, or s3://BUCKET/PREFIX. Default: nowhere.")
        .like("s3://backups/dormouse"),
    text<&Backup::endpoint>("endpoint", url,
                            "The S3-compatible object store; default: that of AWS for region.")
        .like("https://s3.example.org"),
    text<&Backup::region>("region", some_text.sized(1, 64), "The region that signatures name."),
    text<&Backup::access_key>("access_key_env", variable,
                              "The variable with the access key of the object store.")
        .like("S3_ACCESS_KEY"),
    text<&Backup::secret_key>("secret_key_env", variable,
                              "The variable with the secret key of the object store.")
        .like("S3_SECRET_KEY"),
    text<&Backup::key_file>("key_file", some_text,
                            "A file with 64 hexadecimal digits: encrypts the copy, as --key does "
                            "for dormouse backup.")
        .like("/etc/dormouse/backup.key"),
    duration<&Backup::interval>("interval", {100, hour},
                                "Interval of copies of changes: the most that is lost with the "
                                "disk."),
    duration<&Backup::base_every>("base_every", {hour, year},
                                  "Interval of copies of the whole database. A restore reads one "
                                  "such base and what was copied after it."),
    duration<&Backup::keep>("keep", {hour, 100 * year},
                            "Age up to which a copy can be restored to any time; older bases are "
                            "removed."),
};

}  // namespace dormouse::config::rows
