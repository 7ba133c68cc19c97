#include "project/distribution_tables.hpp"

#include <array>

// Facts of 2026-11-22, from the metadata that the distributions publish: the top-level modules of
// their wheels and what these require without extras. A name whose right distribution is not on the
// usual index, or stands there for something else, is not suggested.

namespace autopack::project {

namespace {

/// Modules whose distribution has another name, or that several provide; the one to suggest first.
/// `-` in front: none is suggested. `<82` behind a name: the versions that provide it.
constexpr std::array other_names{std::to_array<DistributionRow>({
    {"Bio", "biopython"},
    {"Crypto", "pycryptodome"},
    {"Cryptodome", "pycryptodomex"},
    {"Cython", "Cython"},
    {"IPython", "ipython"},
    {"Levenshtein", "Levenshtein python-Levenshtein"},
    {"MeCab", "mecab-python3"},
    {"MySQLdb", "mysqlclient"},
    {"OpenGL", "PyOpenGL"},
    {"OpenSSL", "pyOpenSSL"},
    {"PIL", "Pillow pillow-simd"},
    {"SimpleITK", "SimpleITK"},
    {"Xlib", "python-xlib"},
    {"absl", "absl-py"},
    {"acme", "dm-acme"},
    {"airflow", "apache-airflow"},
    {"ale_py", "ale-py"},
    {"antlr4", "antlr4-python3-runtime"},
    {"apache_beam", "apache-beam"},
    {"asynchat", "pyasynchat"},
    {"asyncore", "pyasyncore"},
    {"attr", "attrs"},
    {"attrs", "attrs"},
    {"audioop", "audioop-lts"},
    {"box", "python-box"},
    {"bs4", "beautifulsoup4"},
    {"cgi", "legacy-cgi"},
    {"cgitb", "legacy-cgi"},
    {"clip", "- clip-anytorch openai-clip clip"},
    {"community", "python-louvain"},
    {"composer", "mosaicml"},
    {"configargparse", "ConfigArgParse"},
    {"consul", "python-consul"},
    {"cupy", "- cupy cupy-cuda11x cupy-cuda12x cupy-cuda13x"},
    {"cv2",
     "opencv-python opencv-python-headless opencv-contrib-python opencv-contrib-python-headless"},
    {"dateutil", "python-dateutil"},
    // As of Python 3.12, where torch requires setuptools.
    {"distutils", "setuptools torch"},
    {"dm_control", "dm-control"},
    {"dm_env", "dm-env"},
    {"dns", "dnspython"},
    {"docx", "python-docx"},
    {"dotenv", "python-dotenv"},
    {"dora", "dora-search"},
    {"faiss", "faiss-cpu faiss-gpu"},
    {"ffmpeg", "ffmpeg-python"},
    {"fitz", "PyMuPDF"},
    {"flash_attn", "flash-attn"},
    {"functorch", "torch functorch"},
    {"gi", "PyGObject"},
    {"gin", "gin-config"},
    {"git", "GitPython"},
    {"github", "PyGithub"},
    {"gitlab", "python-gitlab"},
    {"google.api_core", "google-api-core"},
    {"google.auth", "google-auth"},
    {"google.cloud.aiplatform", "google-cloud-aiplatform"},
    {"google.cloud.bigquery", "google-cloud-bigquery"},
    {"google.cloud.bigquery_storage", "google-cloud-bigquery-storage"},
    {"google.cloud.firestore", "google-cloud-firestore"},
    {"google.cloud.logging", "google-cloud-logging"},
    {"google.cloud.pubsub", "google-cloud-pubsub"},
    {"google.cloud.pubsub_v1", "google-cloud-pubsub"},
    {"google.cloud.secretmanager", "google-cloud-secret-manager"},
    {"google.cloud.storage", "google-cloud-storage"},
    {"google.cloud.tasks", "google-cloud-tasks"},
    {"google.genai", "google-genai"},
    {"google.generativeai", "google-generativeai"},
    {"google.oauth2", "google-auth"},
    {"google.protobuf", "protobuf"},
    {"googleapiclient", "google-api-python-client"},
    {"grpc", "grpcio"},
    {"grpc_status", "grpcio-status"},
    {"haiku", "dm-haiku"},
    {"hydra", "hydra-core"},
    {"hyperpyyaml", "HyperPyYAML"},
    {"hypertune", "cloudml-hypertune"},
    {"igraph", "igraph python-igraph"},
    {"imblearn", "imbalanced-learn"},
    {"jinja2", "Jinja2"},
    {"jose", "python-jose"},
    {"jwt", "PyJWT"},
    {"keras", "keras keras-nightly"},
    {"ldap", "python-ldap"},
    {"lightning", "lightning"},
    {"lightning_fabric", "lightning-fabric lightning pytorch-lightning"},
    {"llvmlite", "llvmlite"},
    {"magic", "python-magic"},
    {"markdown", "Markdown"},
    {"mcubes", "PyMCubes"},
    {"memcache", "python-memcached"},
    {"ml_collections", "ml-collections"},
    {"mmcv", "mmcv mmcv-full mmcv-lite"},
    {"mpl_toolkits", "matplotlib"},
    {"mujoco_py", "mujoco-py"},
    {"multipart", "python-multipart"},
    {"nacl", "PyNaCl"},
    {"onnxruntime", "onnxruntime onnxruntime-gpu"},
    {"open_clip", "open-clip-torch"},
    {"orbax", "orbax-checkpoint"},
    {"osgeo", "GDAL"},
    {"pkg_resources", "setuptools<82"},
    {"pl_bolts", "lightning-bolts"},
    {"pptx", "python-pptx"},
    {"psycopg2", "psycopg2 psycopg2-binary"},
    {"pylab", "matplotlib"},
    {"pynvml", "nvidia-ml-py pynvml nvidia-ml-py3"},
    {"pythonjsonlogger", "python-json-logger"},
    {"pytorch_lightning", "pytorch-lightning lightning"},
    {"rest_framework", "djangorestframework"},
    {"ruamel", "ruamel.yaml"},
    {"serial", "pyserial"},
    {"shapefile", "pyshp"},
    {"skimage", "scikit-image"},
    {"sklearn", "scikit-learn"},
    {"skopt", "scikit-optimize"},
    {"skvideo", "scikit-video"},
    {"slugify", "python-slugify"},
    {"snappy", "python-snappy"},
    {"socks", "PySocks"},
    {"sonnet", "dm-sonnet"},
    {"streaming", "mosaicml-streaming"},
    {"telegram", "python-telegram-bot"},
    {"tensorboard", "tensorboard tb-nightly"},
    {"tensorflow",
     "tensorflow tensorflow-cpu tensorflow-gpu tensorflow-macos tf-nightly intel-tensorflow"},
    {"torchgen", "torch"},
    {"tree", "dm-tree"},
    {"umap", "umap-learn"},
    {"unidecode", "Unidecode"},
    {"usb", "pyusb"},
    {"vertexai", "google-cloud-aiplatform vertexai"},
    {"websocket", "websocket-client"},
    {"werkzeug", "Werkzeug"},
    {"wx", "wxPython"},
    {"yaml", "PyYAML"},
    {"zmq", "pyzmq"},
})};

/// Modules whose distribution has their name, with `-` for `_`.
constexpr std::string_view same_names{
    "accelerate addict aiohttp albumentations appdirs audioread av beartype bitsandbytes blobfile "
    "boto3 botocore braceexpand brax captum catboost cffi chex click cloudpickle clu colorama "
    "colorlog contourpy cryptography cycler dacite dask datasets decorator decord deepspeed demucs "
    "dgl diffrax diffusers dill distrax distributed docopt easydict editdistance einops "
    "ema_pytorch encodec equinox etils evaluate fairscale fairseq fastapi fastprogress fasttext "
    "filelock fire flask flatbuffers flax fsspec ftfy fvcore g2p_en gast gcsfs gdown gensim "
    "gpytorch "
    "gradio gym gymnasium h5py httpx huggingface_hub imageio imgaug importlib_metadata "
    "importlib_resources inflect iopath ipdb jax jaxlib jaxtyping jieba jiwer jmp joblib json5 "
    "jsonlines jsonschema julius kfp kiwisolver kornia langchain librosa lightgbm "
    "lightning_utilities "
    "lion_pytorch lmdb loguru loralib lpips lxml matplotlib minigrid ml_dtypes mlflow monai "
    "moviepy "
    "mpi4py msgpack mujoco multiprocess munch natsort networkx nibabel ninja nltk numba numpy "
    "omegaconf onnx open3d openai opt_einsum optax optuna optree orjson packaging pandas "
    "parameterized pathspec patsy peft pesq pettingzoo phonemizer platformdirs plotly plyfile "
    "polars "
    "pooch portalocker prettytable procgen promise protobuf psutil pyarrow pyasn1 pycocotools "
    "pydantic pydicom pydub pygame pygments pyparsing pypinyin pyrender pyrootutils pystoi pytest "
    "pytorch_fid pytorch_msssim pytz pyworld ray rdkit regex requests resampy rich rlax rootutils "
    "rotary_embedding_torch rouge rouge_score s3fs sacrebleu sacremoses safetensors scipy seaborn "
    "sentence_transformers sentencepiece sentry_sdk seqeval setproctitle setuptools shapely "
    "simplejson six sklearn_pandas smart_open sortedcontainers soundfile soxr spacy "
    "sqlalchemy stable_baselines3 statsmodels streamlit submitit sympy tables tabulate "
    "tensorboardX "
    "tensorboard_logger tensorflow_addons tensorflow_datasets tensorflow_hub tensorflow_io "
    "tensorflow_metadata tensorflow_probability tensorflow_text tensorstore termcolor textdistance "
    "tf_agents tf_keras tf_slim thop threadpoolctl tifffile tiktoken timm tokenizers toml tomli "
    "toolz torch torch_cluster torch_ema torch_fidelity torch_geometric torch_scatter torch_sparse "
    "torch_spline_conv torchaudio torchdata torchdiffeq torchinfo torchmetrics torchsde "
    "torchsummary "
    "torchtext torchvision tqdm transformers trimesh triton trl typer typing_extensions ujson "
    "ultralytics urllib3 uvicorn vector_quantize_pytorch visdom vllm wandb webdataset wheel wilds "
    "wrapt x_transformers xarray xformers xgboost xxhash yacs yapf zarr zstandard "};

}  // namespace

std::span<const DistributionRow> modules_of_other_names() {
  return other_names;
}

std::string_view modules_of_same_names() {
  return same_names;
}

}  // namespace autopack::project
